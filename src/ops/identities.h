// What is known to be equal: applications of ops that have a simpler form, as one table.
//
// The compiler replaces one by the other, so an identity must hold for every value, infinities, NaN
// and the sign of zero included: x + 0 is not x where x is -0. A few rows say the same more exactly
// than it was written, and are marked so.
#pragma once
#include <span>

#include "graph/applied.h"

namespace gradus {

struct Identity {
  const char* op;    // the record's name
  const char* says;  // as a formula
  // Undefined: not this one. What has another dtype or shape (because x * 1 broadcasts, say) is not
  // taken.
  Tensor (*simpler)(const Applied& y);
};

std::span<const Identity> identities();

}  // namespace gradus
