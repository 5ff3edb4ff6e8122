// One call of a function of the language, and the tables that say what its functions are in C++.
// Names are those of the public headers, with dots for namespaces.
#pragma once
#include <functional>
#include <optional>

#include "agree/program.h"
#include "gradus/gradus.h"

namespace agree {

namespace gd = gradus;
using gd::Shape;
using gd::Tensor;
using Tensors = std::vector<Tensor>;
using Fn = std::function<Tensors(const Tensors&)>;

// What names mean where a line stands.
struct Scope {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, Fn> functions;
  std::shared_ptr<const Scope> around;
};

class Call {
 public:
  Call(const Line& line, const Scope& scope) : line_(line), scope_(scope) {}

  std::size_t count() const { return line_.operands.size(); }
  Tensor t(std::size_t i) const;      // a name, or a number that takes the dtype it meets
  Tensors list(std::size_t i) const;  // "(a,b,c)"
  Tensors rest(std::size_t i) const;  // all operands from i on
  Fn fn(std::size_t i) const;         // "@f"
  bool has(const std::string& name) const { return line_.attributes.count(name) != 0; }
  std::int64_t i(const std::string& name, std::int64_t otherwise) const;
  int small(const std::string& name, int otherwise) const {
    return static_cast<int>(i(name, otherwise));
  }
  double d(const std::string& name, double otherwise) const;
  bool b(const std::string& name, bool otherwise = false) const;
  std::string s(const std::string& name, const std::string& otherwise) const;
  std::vector<std::int64_t> ints(const std::string& name) const;  // [1,2], or one number
  Shape shape(const std::string& name) const;
  gd::DType dtype(const std::string& name, gd::DType otherwise) const;

 private:
  const Line& line_;
  const Scope& scope_;
};

using Entry = std::function<Tensors(const Call&)>;
using Table = std::map<std::string, Entry>;
void add_math(Table& table);
void add_arrays(Table& table);
void add_linalg(Table& table);
void add_nn(Table& table);
void add_losses(Table& table);
void add_control(Table& table);
const Table& table();

inline Entry one(Tensor (*f)(gd::In)) {
  return [f](const Call& c) -> Tensors { return {f(c.t(0))}; };
}
inline Entry two(Tensor (*f)(gd::In, gd::In)) {
  return [f](const Call& c) -> Tensors { return {f(c.t(0), c.t(1))}; };
}
inline Entry three(Tensor (*f)(gd::In, gd::In, gd::In)) {
  return [f](const Call& c) -> Tensors { return {f(c.t(0), c.t(1), c.t(2))}; };
}
// A function of one tensor, or any other expression of the call c.
template <class F>
Entry calls(F f) {
  return [f](const Call& c) -> Tensors {
    if constexpr (std::is_same_v<std::invoke_result_t<F, const Call&>, Tensors>) {
      return f(c);
    } else {
      return {f(c)};
    }
  };
}

}  // namespace agree
