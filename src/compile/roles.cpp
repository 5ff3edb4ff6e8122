#include "compile/roles.h"

#include <atomic>

namespace gradus {

Extension::Extension()
    : id([] {
        static std::atomic<std::uint64_t> made{0};
        return ++made;
      }()) {}

}  // namespace gradus
