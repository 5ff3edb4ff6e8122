#include "base/executable_memory.h"

#include <sys/mman.h>

#include <cstring>

namespace gradus {

std::shared_ptr<const void> executable_copy(const void* code, std::size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::shared_ptr<const void> owner(memory,
                                    [size](const void* p) { munmap(const_cast<void*>(p), size); });
  std::memcpy(memory, code, size);
  return mprotect(memory, size, PROT_READ | PROT_EXEC) == 0 ? owner : nullptr;
}

}  // namespace gradus
