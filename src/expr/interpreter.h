// The portable back end: runs a schedule tile by tile. It is the oracle for emitted code and the
// fallback for what the emitter does not cover.
#pragma once
#include <memory>

#include "expr/kernel.h"

namespace gradus::expr {

struct Interpreted;
std::shared_ptr<const Interpreted> interpret(const Program& lowered);
void run_interpreted(const LoopArgs* args, const void* interpreted);

}  // namespace gradus::expr
