// Memory for machine code made at run time. Pages are either writable or executable, never both at
// once, and never shared between two pieces of code, so that one can be written while others run.
#pragma once
#include <cstddef>
#include <memory>

namespace gradus {

// A copy of the code that can be executed and is given back with the last owner. Null if the system
// gives no such memory.
std::shared_ptr<const void> executable_copy(const void* code, std::size_t bytes);

}  // namespace gradus
