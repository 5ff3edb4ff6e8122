// What of a call's arguments decides which trace fits, besides the tensors' dtypes and shapes.
//
// Arguments are walked in the order of tf.nest. Tensors and arrays are inputs; numbers are noted
// apart, because they are tried as inputs once their value changes; variables count by identity;
// everything else is part of the key by value (or by identity, if it has no hash).
#pragma once
#include <vector>

#include "gradus/function.h"
#include "types.h"

namespace gradus::python {

enum class Part : std::uint8_t { tensor, number, variable, fixed, structure, key };

struct Token {
  Part part;
  PyObject* object = nullptr;  // a fixed value, a key, a variable, the type of a structure
  const void* identity =
      nullptr;  // a variable's state, a structure's size, whether a number is real
};

// A number by its bits, so that 0.0 and -0.0 are two.
struct Number {
  bool is_real;
  union {
    double real;
    std::int64_t integer;
  };
  bool operator==(const Number& other) const {
    return is_real == other.is_real && integer == other.integer;
  }
};

struct Walked {
  std::vector<Token> tokens;
  std::vector<Tensor> tensors;
  std::vector<detail::FunctionCore::Expected> expected;  // one per tensor, if only kinds are known
  bool kinds_only = false;                               // there may be TensorSpecs
  std::vector<Number> numbers;
  std::vector<Ref> held;  // what the walk made
  std::size_t hash = 0;

  void walk(PyObject* argument);

 private:
  void add(Part part, PyObject* object, const void* identity, std::size_t hash);
};

// The tokens of a walk, kept.
class Key {
 public:
  explicit Key(const Walked& walked);
  bool matches(const Walked& walked) const;
  int visit(visitproc visit, void* arg) const;

 private:
  std::vector<Token> tokens_;
  std::vector<Ref> held_;
  std::vector<Variable> variables_;
  std::size_t hash_;
};

}  // namespace gradus::python
