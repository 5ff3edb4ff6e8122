// Looking into a function that is being traced (gradus/function.h), for bindings and libraries.
#pragma once
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "gradus/tensor.h"

namespace gradus {

class Graph;
class VariableTracer;

// Whether this thread is tracing a function.
bool is_tracing() noexcept;
bool is_tracing_region() noexcept;  // a branch or the body of a loop
// One example of a vmap; and whether a bool is true for one of them at least.
bool is_example(const Tensor& t) noexcept;
bool is_true_for_any(const Tensor& t);
// A name for a value that has no elements yet, and what makes it: "Placeholder" or an op.
bool is_symbolic(const Tensor& t) noexcept;
// Whether it has elements now: it is neither such a name nor an example of a vmap.
bool has_value(const Tensor& t) noexcept;
std::string traced_name(const Tensor& t);

// The line of the op that failed while a compiled function ran, if the last error of this thread
// came from one; asking forgets it.
std::optional<std::source_location> take_failed_line() noexcept;

// What runs in this scope is done at once and is no part of the function that is being traced.
class PauseTracing {
 public:
  PauseTracing() noexcept;
  ~PauseTracing();
  PauseTracing(const PauseTracing&) = delete;

 private:
  Graph* graph_;
  VariableTracer* variables_;
};

// The value of a traced tensor that does not depend on the function's arguments or on variables,
// computed now; none if it does. Other tensors are returned as they are.
std::optional<Tensor> value_before_call(const Tensor& t);

// The elements of an integer tensor that is made of sizes, such as shape(x)[0] * 2. None if it
// depends on values.
std::optional<std::vector<Size>> sizes_in(const Tensor& t);
// Whether the call that is traced says what an unknown size is, so that one may ask.
bool is_known_to_call(Size size);
// Which trace the unknown sizes of this thread belong to; null: none.
const void* trace_of_sizes() noexcept;
// The same of any integer tensor of known length: what depends on values is found when the program
// runs.
// `adjust` may change numbers that are not sizes yet.
using AdjustNumber = std::function<Tensor(const Tensor&)>;
std::vector<Size> found_sizes(const Tensor& t, const AdjustNumber& adjust = {});

}  // namespace gradus
