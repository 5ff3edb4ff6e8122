// The fast back end: machine code for a schedule, by Xbyak.
#pragma once
#include "expr/kernel.h"
#include "expr/schedule.h"

namespace gradus::expr {

struct Emitted {
  Kernel::Entry entry = nullptr;  // null: the program has something that is not covered
  std::shared_ptr<const void> memory;
  std::size_t bytes = 0;
  int rows_in_turn = 1;  // each with scratch rows of its own
};
Emitted emit(const Program& lowered, const Schedule& schedule, Isa isa);

}  // namespace gradus::expr
