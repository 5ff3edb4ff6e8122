#include "base/check.h"

namespace gradus {

void assertion_failed(const char* condition, const char* file, int line) {
  fail<InternalError>("internal error: ", condition, " does not hold at ", file, ":", line,
                      "; this is a bug in Gradus, please report it");
}

}  // namespace gradus
