// Lines of programs that are not C++: a binding says where its user called, so that errors, reports
// and explanations name that line and not one of the binding.
#pragma once
#include <source_location>

namespace gradus {

struct ForeignLine {
  const char* file = "";
  const char* function = "";
  unsigned line = 0, column = 0;
};

// Whether somebody records or traces the ops of this thread, so that lines are of use.
bool lines_are_recorded() noexcept;

// Ops in this scope belong to a line, which is referred to as long as recordings of them live; keep
// it for good. The innermost scope counts.
class AttributeToLine {
 public:
  explicit AttributeToLine(const ForeignLine& line) noexcept;
  ~AttributeToLine();
  AttributeToLine(const AttributeToLine&) = delete;

 private:
  std::source_location saved_;
  bool fixed_;
};

}  // namespace gradus
