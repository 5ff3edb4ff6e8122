#include "agree/call.h"

#include <stdexcept>

namespace agree {
namespace {

template <class T>
const T& found(const Scope& scope, std::map<std::string, T> Scope::*member,
               const std::string& name) {
  for (const Scope* s = &scope; s; s = s->around.get()) {
    const auto at = (s->*member).find(name);
    if (at != (s->*member).end()) return at->second;
  }
  throw std::runtime_error("no name " + name);
}

bool is_number(const std::string& word) {
  return word.find_first_of("0123456789") == (word[0] == '-' ? 1u : 0u);
}

Tensor operand(const Scope& scope, const std::string& word) {
  if (!is_number(word)) return found(scope, &Scope::tensors, word);
  return word.find_first_of(".e") == std::string::npos
             ? gd::detail::weak_number(static_cast<std::int64_t>(std::stoll(word)))
             : gd::detail::weak_number(std::stod(word));
}

Tensors run_block(const Block& block, const Tensors& arguments,
                  const std::shared_ptr<const Scope>& around) {
  const auto scope = std::make_shared<Scope>();
  scope->around = around;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    scope->tensors[block.parameters.at(i)] = arguments[i];
  for (const Line& line : block.lines) {
    if (line.defines) {
      // A copy of the scope as it is here: names are not changed behind a function's back, and no
      // scope holds a function that holds it.
      scope->functions[line.results[0]] =
          [defined = line.defines, here = std::make_shared<const Scope>(*scope)](const Tensors& x) {
            return run_block(*defined, x, here);
          };
      continue;
    }
    const auto entry = table().find(line.function);
    if (entry == table().end()) throw std::runtime_error("no function " + line.function);
    const Tensors results = entry->second(Call(line, *scope));
    if (results.size() < line.results.size())
      throw std::runtime_error(line.function + " has fewer results");
    for (std::size_t i = 0; i < line.results.size(); ++i)
      scope->tensors[line.results[i]] = results[i];
  }
  Tensors results;
  for (const std::string& name : block.results)
    results.push_back(found(*scope, &Scope::tensors, name));
  return results;
}

}  // namespace

Tensor Call::t(std::size_t i) const { return operand(scope_, line_.operands.at(i)); }

Tensors Call::list(std::size_t i) const {
  const std::string& word = line_.operands.at(i);
  Tensors all;
  for (const std::string& part : parts_of(word.substr(1, word.size() - 2), ','))
    all.push_back(operand(scope_, part));
  return all;
}

Tensors Call::rest(std::size_t i) const {
  Tensors all;
  for (; i < count(); ++i) all.push_back(t(i));
  return all;
}

Fn Call::fn(std::size_t i) const {
  return found(scope_, &Scope::functions, line_.operands.at(i).substr(1));
}

std::int64_t Call::i(const std::string& name, std::int64_t otherwise) const {
  return has(name) ? std::stoll(line_.attributes.at(name)) : otherwise;
}
double Call::d(const std::string& name, double otherwise) const {
  return has(name) ? std::stod(line_.attributes.at(name)) : otherwise;
}
bool Call::b(const std::string& name, bool otherwise) const {
  return has(name) ? line_.attributes.at(name) == "true" : otherwise;
}
std::string Call::s(const std::string& name, const std::string& otherwise) const {
  return has(name) ? line_.attributes.at(name) : otherwise;
}
std::vector<std::int64_t> Call::ints(const std::string& name) const {
  const std::string& word = line_.attributes.at(name);
  if (word[0] != '[') return {std::stoll(word)};
  std::vector<std::int64_t> all;
  for (const std::string& part : parts_of(word.substr(1, word.size() - 2), ','))
    all.push_back(std::stoll(part));
  return all;
}
Shape Call::shape(const std::string& name) const {
  const std::vector<std::int64_t> sizes = ints(name);
  return Shape(std::span(sizes));
}
gd::DType Call::dtype(const std::string& name, gd::DType otherwise) const {
  return has(name) ? gd::dtype_of(line_.attributes.at(name)) : otherwise;
}

const Table& table() {
  static const Table all = [] {
    Table made;
    add_math(made);
    add_arrays(made);
    add_linalg(made);
    add_nn(made);
    add_losses(made);
    add_control(made);
    return made;
  }();
  return all;
}

std::vector<Tensor> run(const Program& p, const std::vector<Tensor>& inputs) {
  Block named = p.body;
  for (const Input& input : p.inputs) named.parameters.push_back(input.name);
  return run_block(named, inputs, nullptr);
}

}  // namespace agree
