// Two kinds of failure, told apart by name. A user's mistake is thrown where it is found
// (`fail<InvalidArgumentError>("[add] ...", parts...)`); a broken invariant of ours is
// GRADUS_ASSERT, which throws InternalError with the place. Messages are only built when something
// failed.
#pragma once
#include <sstream>

#include "gradus/error.h"

namespace gradus {

template <class E, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw E(text.str());
}

// Where the user called what runs now in this thread, for errors; line 0: not known. The layer that
// knows sets it.
using LineOfCall = std::source_location (*)();
extern constinit LineOfCall line_of_call;

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace gradus

#define GRADUS_ASSERT(condition) \
  ((condition) ? void(0) : ::gradus::assertion_failed(#condition, __FILE__, __LINE__))
