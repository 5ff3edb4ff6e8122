// Asking the system for pages costs about 8 us for each piece of code, most of it page faults and
// unmapping; so pages come from chunks that are mapped once and are used again when code dies.
#include "base/code_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <mutex>
#include <vector>

namespace gradus {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kChunkPages = 64, kPooledPages = 8;  // longer code gets pages of its own

void* map_pages(std::size_t pages, int flags) {
  void* memory = mmap(nullptr, pages * kPage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

class CodePages {
 public:
  // Writable pages, or null.
  void* take(std::size_t pages) {
    if (pages > kPooledPages) return map_pages(pages, 0);
    const std::lock_guard lock(mutex_);
    std::vector<void*>& free = free_[pages - 1];
    if (!free.empty()) {
      void* memory = free.back();
      if (mprotect(memory, pages * kPage, PROT_READ | PROT_WRITE) != 0) return nullptr;
      free.pop_back();
      return memory;
    }
    if (left_ < pages) {
      void* chunk = map_pages(kChunkPages, MAP_POPULATE);
      if (chunk == nullptr) return nullptr;
      next_ = static_cast<std::byte*>(chunk);
      left_ = kChunkPages;
    }
    void* memory = next_;
    next_ += pages * kPage;
    left_ -= pages;
    return memory;
  }

  void give_back(void* memory, std::size_t pages) {
    if (pages > kPooledPages) {
      munmap(memory, pages * kPage);
      return;
    }
    const std::lock_guard lock(mutex_);
    free_[pages - 1].push_back(memory);
  }

 private:
  std::mutex mutex_;
  std::vector<void*> free_[kPooledPages];  // by number of pages
  std::byte* next_ = nullptr;              // rest of the newest chunk
  std::size_t left_ = 0;
};

// Lives as long as the process: code may die after static objects.
CodePages& code_pages() {
  static CodePages& pages = *new CodePages;
  return pages;
}

}  // namespace

std::shared_ptr<const void> executable_copy(const void* code, std::size_t bytes) {
  const std::size_t pages = (bytes + kPage - 1) / kPage;
  void* memory = code_pages().take(pages);
  if (memory == nullptr) return nullptr;
  std::memcpy(memory, code, bytes);
  if (mprotect(memory, pages * kPage, PROT_READ | PROT_EXEC) != 0) {
    code_pages().give_back(memory, pages);
    return nullptr;
  }
  return {memory, [pages](void* p) { code_pages().give_back(p, pages); }};
}

}  // namespace gradus
