// Functions of the host program as parts of a compiled one: printing, checks, code in Python.
//
//   const gd::HostFunction::Run print = [](const auto& in) {
//     std::cout << in[0];
//     return std::vector<gd::Tensor>();
//   };
//   gd::host_call({.name = "print", .run = print}, {x}, {});
//
// While a function is traced this is an op with an effect: it runs whenever the program comes by,
// once, in the order of the calls, also in branches and loops. Otherwise it runs at once.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "gradus/tensor.h"

namespace gradus {

struct HostFunction {
  using Run = std::function<std::vector<Tensor>(const std::vector<Tensor>& in)>;
  using Pull = std::function<std::vector<Tensor>(const std::vector<Tensor>& in,
                                                 const std::vector<Tensor>& cotangents)>;
  std::string name = {};
  Run run = {};
  Pull pull = {};  // the cotangents of all arguments; empty: there is no gradient
  // Code that may itself read variables or call functions: variables are not locked around it.
  bool is_foreign = false;
  // The gradient of a branch that calls it may call it again; calls without results are left out.
  bool may_repeat = true;
};

// A result must have this dtype and shape, or the shape of an argument.
struct HostResult {
  DType dtype;
  Shape shape = {};
  int like = -1;  // the number of the argument
};

std::vector<Tensor> host_call(HostFunction function, const std::vector<Tensor>& in,
                              const std::vector<HostResult>& results);

namespace detail {
// How many calls of foreign functions this thread has traced.
std::uint64_t foreign_calls_traced();
}  // namespace detail

}  // namespace gradus
