// How much memory the machine, or the container around us, has.
#pragma once
#include <cstddef>

namespace gradus {

std::size_t total_memory();      // bytes
std::size_t available_memory();  // bytes that can be touched before the system has to kill somebody
std::size_t resident_memory();   // bytes this process has touched

}  // namespace gradus
