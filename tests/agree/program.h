// Programs as data: what tests/agree/*.txt say, as C++ reads it. programs.txt begins with a
// description of the language. tests/python/agree_programs.py and tools/agree_reference.py read the
// same files and share no code with this.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gradus/tensor.h"

namespace agree {

// One line: `results = function operands attributes`, or the definition of a function.
struct Block;
struct Line {
  std::vector<std::string> results;
  std::string function;
  std::vector<std::string> operands;
  std::map<std::string, std::string> attributes;
  std::shared_ptr<Block> defines;  // of a function, whose name is results[0]
};
struct Block {
  std::vector<std::string> parameters, results;
  std::vector<Line> lines;
};

constexpr std::int64_t kBatch = -1;  // the size B, which differs from call to call
struct Input {
  std::string name;
  gradus::DType dtype;
  std::vector<std::int64_t> sizes;
  std::string kind;  // uniform, integers, values, bools
  std::vector<double> numbers;
  bool differentiable;
};

struct Program {
  std::string name;
  std::set<std::string> flags;
  std::uint32_t seed = 0;
  std::vector<Input> inputs;
  Block body;

  bool has(const std::string& flag) const { return flags.count(flag) != 0; }
  bool has_batch() const;
  std::vector<std::size_t> sources() const;  // which inputs gradients are asked for
};

std::vector<Program> read_programs(const std::string& path);
std::vector<std::string> parts_of(const std::string& text, char separator);

// Numbers that all three languages make in the same way.
double hashed(std::uint32_t k, std::uint32_t seed);  // in [0, 1), a multiple of 2^-24
// Element k is low + (high - low) * hashed(k, seed), rounded to the dtype.
gradus::Tensor uniform(gradus::DType dtype, const gradus::Shape& shape, std::uint32_t seed,
                       double low, double high);
// The inputs of a program: of batch size `batch`, and the `variant`-th of several examples.
std::vector<gradus::Tensor> inputs_of(const Program& p, std::int64_t batch, std::uint32_t variant);

// What the program gives. Functions that it defines keep what they need of its surroundings.
std::vector<gradus::Tensor> run(const Program& p, const std::vector<gradus::Tensor>& inputs);

}  // namespace agree
