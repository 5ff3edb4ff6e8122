#include "base/system_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace gradus {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

// The number after `key` in a file of "key number" lines; `otherwise` if it is not there.
std::size_t field(const char* path, const std::string& key, std::size_t otherwise) {
  std::ifstream file(path);
  std::string name, rest;
  std::size_t value = 0;
  while (file >> name) {
    if (name == key && file >> value) return value;
    std::getline(file, rest);
  }
  return otherwise;
}

// The number a file consists of; `otherwise` if it says "max" or is not there.
std::size_t number_in(const char* path, std::size_t otherwise) {
  std::ifstream file(path);
  std::size_t value = 0;
  return file >> value ? value : otherwise;
}

std::size_t container_limit() { return number_in("/sys/fs/cgroup/memory.max", kUnlimited); }

std::size_t kibibytes(const char* key) { return field("/proc/meminfo", key, 0) * 1024; }

}  // namespace

std::size_t total_memory() {
  const std::size_t machine = kibibytes("MemTotal:");
  return std::min(machine == 0 ? kUnlimited : machine, container_limit());
}

std::size_t available_memory() {
  const std::size_t free = kibibytes("MemAvailable:");
  const std::size_t machine = free == 0 ? kUnlimited : free + kibibytes("SwapFree:");
  const std::size_t limit = container_limit();
  if (limit == kUnlimited) return machine;
  // Clean file pages count as used but are dropped on demand.
  const std::size_t used = number_in("/sys/fs/cgroup/memory.current", 0),
                    droppable = field("/sys/fs/cgroup/memory.stat", "inactive_file", 0);
  const std::size_t pinned = used > droppable ? used - droppable : 0;
  return std::min(machine, limit > pinned ? limit - pinned : 0);
}

std::size_t resident_memory() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace gradus
