#include "base/check.h"

namespace gradus {

constinit LineOfCall line_of_call = nullptr;

Error::Error(const std::string& message) : std::runtime_error(message) {
  if (line_of_call) name_line(line_of_call());
}

const char* Error::what() const noexcept {
  return with_line_ ? with_line_->c_str() : std::runtime_error::what();
}

void Error::name_line(std::source_location where) {
  if (with_line_ || where.line() == 0) return;
  with_line_ = std::make_shared<std::string>(
      std::string(message()) + "\n  at " + where.file_name() + ":" + std::to_string(where.line()));
}

void assertion_failed(const char* condition, const char* file, int line) {
  fail<InternalError>("internal error: ", condition, " does not hold at ", file, ":", line,
                      "; this is a bug in Gradus, please report it");
}

}  // namespace gradus
