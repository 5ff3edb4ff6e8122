// Random programs: lists of ops, each with two meanings that know nothing of each other, the
// engine's (public functions of Gradus) and the oracle's (loops over oracle/array.h).
#pragma once
#include <functional>
#include <optional>
#include <random>
#include <string>

#include "gradus/gradus.h"
#include "oracle/array.h"

namespace oracle {

namespace gd = gradus;
using Tensors = std::vector<gd::Tensor>;
using Values = std::vector<Value>;

struct OpDef;

// One line of a program. Operands are numbers of values: inputs first, then lines.
struct Node {
  const OpDef* op = nullptr;
  std::vector<int> in = {};
  Dims ints = {};  // attributes
  std::vector<double> reals = {};
};

class Maker;

struct OpDef {
  std::string name;
  std::function<bool(Maker&, Node&)> make;  // chooses operands and attributes; false: not here
  std::function<gd::Tensor(const Node&, const Tensors&)> engine;
  std::function<Value(const Node&, const Values&)> oracle;
};

// All ops, in families by file.
using Table = std::vector<OpDef>;
const Table& all_ops();
const OpDef& op_named(const std::string& name);
void add_elementwise(Table& table);
void add_shaping(Table& table);
void add_indexing(Table& table);
void add_reductions(Table& table);
void add_linalg(Table& table);
void add_nn(Table& table);
void add_control(Table& table);

struct Program {
  std::vector<Dims> inputs;
  std::vector<bool> complex_inputs;
  std::vector<Node> nodes;

  gd::Tensor run(const Tensors& x) const;
  Value run(const Values& x) const;
  std::string text() const;
  void drop_unused();  // lines that the last one does not need
};

// Numbers whose size says that a double can still be compared.
inline constexpr Real kLimit = 1e4L;
bool is_sane(const Value& v);

// Builds a program line by line. Every line is tried at the point at hand, with infinitesimals:
// one that comes near a kink or a pole, or gets large, is taken back.
class Maker {
 public:
  Maker(std::uint64_t seed, Program& program, Values at);

  std::size_t below(std::size_t n) {
    require(n > 0, "nothing to choose from");
    return random_() % n;
  }
  Size between(Size low, Size high) {  // both included
    return low + static_cast<Size>(below(static_cast<std::size_t>(high - low + 1)));
  }
  bool coin() { return below(2) == 0; }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }
  Dims shape(std::size_t max_rank, Size max_size);  // of rank 0 to max_rank

  // A value that there is already: any one, or with a condition; -1 if there is none.
  int any() {
    return any([](const Value&) { return true; });
  }
  int any_real() {
    return any([](const Value& v) { return !is_complex(v); });
  }
  int any(const std::function<bool(const Value&)>& condition);
  // A real value whose elements lie in a range, made so if need be.
  int within(double low, double high) { return within(any_real(), low, high); }
  int within(int value, double low, double high);
  // A value as an array of given dims: repeated or cut if need be.
  int fitted(int value, const Dims& dims);
  int real_of(const Dims& dims, double low = -3, double high = 3) {
    return within(fitted(any_real(), dims), low, high);
  }
  int of(const Dims& dims) { return fitted(any(), dims); }  // of any kind

  const Dims& dims(int value) const { return dims_of(values_[static_cast<std::size_t>(value)]); }
  const Value& value(int v) const { return values_[static_cast<std::size_t>(v)]; }

  bool try_op(const OpDef& op);  // one line more (and those that fit its operands), or none
  int append(const Node& node);  // the number of its value

 private:
  std::mt19937_64 random_;
  Program& program_;
  Values values_;
};

// Calls f with arrays of numbers, all of the kind of the first operand.
template <class F>
auto with_one_kind(F f) {
  return [f](const Node& node, const Values& in) -> Value {
    return std::visit(
        [&]<class A>(const A&) -> Value {
          std::vector<A> arrays;
          for (const Value& v : in) arrays.push_back(std::get<A>(v));
          return f(node, arrays);
        },
        in[0]);
  };
}
template <class F>
auto with_reals(F f) {
  return [f](const Node& node, const Values& in) -> Value {
    std::vector<Reals> arrays;
    for (const Value& v : in) arrays.push_back(std::get<Reals>(v));
    return f(node, arrays);
  };
}

gd::Shape to_shape(const Dims& dims);
gd::Tensor indices(const Dims& dims, const Dims& numbers);  // int64

// Several results as one: the one chosen, or for -1 all of them behind each other.
gd::Tensor pick(const Tensors& results, Size which);
template <class S>
Array<S> pick(const std::vector<Array<S>>& results, Size which) {
  if (which >= 0) return results[index(which)];
  std::vector<Array<S>> parts;
  for (const Array<S>& r : results) parts.push_back(reshaped(r, {r.size()}));
  return joined(parts, 0);
}

}  // namespace oracle
