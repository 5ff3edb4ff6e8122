// Ops that the engine itself puts into traces and that have derivatives. They are not in the
// registry of ops that users call; graphs that are read find them by their names.
#pragma once
#include "graph/op.h"

namespace gradus {

Op engine_composite(const OpInfo& info, BodyFn body, VjpFn vjp, JvpFn jvp);

}  // namespace gradus
