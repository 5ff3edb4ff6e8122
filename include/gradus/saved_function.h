// A traced function in a file, to be run by a program that does not have its source.
//
//   auto f = gd::function(model);
//   f(x);                                         // traced for arguments like these
//   gd::save_function("model.gradus", f.saved());
//   ...
//   gd::LoadedFunction g = gd::load_function("model.gradus");
//   auto y = g({x})[0];
//
// The file is an .npz: the program as text (with a version number), its constants, and the values
// of its variables at the time of saving, which become variables of the loaded function. It appears
// whole or not at all. A damaged file is a DataLossError, one of a later version an
// UnimplementedError. A function that holds C++ code (custom_gradient, say) cannot be saved:
// InvalidArgumentError names the op.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "gradus/variable.h"

namespace gradus {

// The program of a function as data.
struct SavedFunction {
  std::string text;  // begins with "gradus function 1"
  std::vector<Tensor> constants, variables;
  std::vector<Variable> sources = {};  // whose values these are; not written to files
};

class LoadedFunction {
 public:
  // With variables of its own; or with those given, of which several functions can have the same.
  explicit LoadedFunction(const SavedFunction& saved);
  LoadedFunction(const SavedFunction& saved, std::vector<Variable> variables);

  // Results in the order of the original's tensors. Sizes may be those that the original could
  // take; numbers are tensors of the dtype that they were traced as.
  std::vector<Tensor> operator()(std::vector<Tensor> arguments) const;
  // Whether the original could take arguments of these shapes: a program that subtracts two of them
  // takes them to be of one size.
  bool takes(const std::vector<Shape>& shapes) const;
  const std::vector<Variable>& variables() const;
  std::string text() const;  // the program, one line per op

 private:
  struct State;
  std::shared_ptr<State> state_;
};

void save_function(const std::string& path, const SavedFunction& function);
LoadedFunction load_function(const std::string& path);

}  // namespace gradus
