// Memory that the processor may run. It is never writable and executable at the same time.
#pragma once
#include <cstddef>
#include <memory>

namespace gradus {

// A copy of position-independent machine code, on pages of its own. Null when the system hands out
// no executable memory.
std::shared_ptr<const void> executable_copy(const void* code, std::size_t size);

}  // namespace gradus
