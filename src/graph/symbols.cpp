#include "graph/symbols.h"

#include <map>

#include "base/check.h"
#include "graph/ambient_graph.h"

namespace gradus {

constinit thread_local Graph* ambient_graph = nullptr;

namespace {

constinit thread_local Symbols* current = nullptr;

// Names lie far apart, so that what a user's own n - 1 makes of one is not another.
constexpr std::int64_t kApart = std::int64_t{1} << 20;

std::size_t entry_of(std::int64_t size) {
  return static_cast<std::size_t>((kFirstSymbol - size) / kApart);
}
std::int64_t name_of_entry(std::size_t entry) {
  return kFirstSymbol - static_cast<std::int64_t>(entry) * kApart;
}

}  // namespace

Symbols& current_symbols() {
  if (!current && ambient_graph) return ambient_graph->symbols();
  if (!current)
    fail<InvalidArgumentError>("got a negative size; sizes must be at least 0 (or -1 where that ",
                               "stands for what is left)");
  return *current;
}

bool is_size(std::int64_t size) {
  if (size >= 0) return true;
  if (current) return current->has(size);
  return ambient_graph && ambient_graph->symbols().has(size);
}

void fail_size(std::int64_t a, char operation, std::int64_t b) {
  fail<ResourceExhaustedError>("the size ", a, " ", operation, " ", b, " does not fit into memory");
}

bool Symbols::has(std::int64_t size) const {
  return is_symbol(size) && (kFirstSymbol - size) % kApart == 0 && entry_of(size) < names_.size();
}

SymbolScope::SymbolScope(Symbols& symbols) : saved_(current) { current = &symbols; }
SymbolScope::~SymbolScope() { current = saved_; }

Symbols::Polynomial Symbols::polynomial(std::int64_t size) const {
  if (is_symbol(size)) {
    if (!has(size)) fail<InvalidArgumentError>("got ", size, " as a size; sizes are at least 0");
    return names_[entry_of(size)];
  }
  return size == 0 ? Polynomial{} : Polynomial{{{}, size}};
}

std::int64_t Symbols::intern(Polynomial p) {
  if (p.empty()) return 0;
  if (p.size() == 1 && p[0].atoms.empty() && p[0].factor >= 0) return p[0].factor;
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == p) return name_of_entry(i);
  names_.push_back(std::move(p));
  return name_of_entry(names_.size() - 1);
}

std::int64_t Symbols::fresh() {
  atoms_.push_back({.input = static_cast<std::int64_t>(inputs_++)});
  return intern({{{static_cast<std::uint32_t>(atoms_.size() - 1)}, 1}});
}

std::int64_t Symbols::add(std::int64_t a, std::int64_t b) {
  std::map<Monomial, std::int64_t> sum;
  for (const Term& t : polynomial(a)) sum[t.atoms] += t.factor;
  for (const Term& t : polynomial(b)) sum[t.atoms] += t.factor;
  Polynomial p;
  for (auto& [atoms, factor] : sum)
    if (factor != 0) p.push_back({atoms, factor});
  return intern(std::move(p));
}

std::int64_t Symbols::subtract(std::int64_t a, std::int64_t b) {
  Polynomial negated = polynomial(b);
  for (Term& t : negated) t.factor = -t.factor;
  return add(a, intern(std::move(negated)));
}

std::int64_t Symbols::multiply(std::int64_t a, std::int64_t b) {
  std::map<Monomial, std::int64_t> product;
  for (const Term& s : polynomial(a)) {
    for (const Term& t : polynomial(b)) {
      Monomial atoms = s.atoms;
      atoms.insert(atoms.end(), t.atoms.begin(), t.atoms.end());
      std::sort(atoms.begin(), atoms.end());
      product[atoms] += s.factor * t.factor;
    }
  }
  Polynomial p;
  for (auto& [atoms, factor] : product)
    if (factor != 0) p.push_back({atoms, factor});
  return intern(std::move(p));
}

// Exact where every term of the numerator is a multiple of a one-term denominator.
std::int64_t Symbols::floor_divide(std::int64_t a, std::int64_t b) {
  if (a == b) return 1;
  if (b == 1) return a;
  const Polynomial by = polynomial(b);
  if (by.size() == 1) {
    Polynomial quotient;
    bool exact = true;
    for (const Term& t : polynomial(a)) {
      Monomial rest = t.atoms;
      for (std::uint32_t atom : by[0].atoms) {
        const auto found = std::find(rest.begin(), rest.end(), atom);
        exact &= found != rest.end();
        if (exact) rest.erase(found);
      }
      exact &= t.factor % by[0].factor == 0;
      if (exact) quotient.push_back({rest, t.factor / by[0].factor});
    }
    if (exact) return intern(std::move(quotient));
  }
  for (std::size_t i = 0; i < atoms_.size(); ++i)
    if (atoms_[i].numerator == a && atoms_[i].denominator == b && atoms_[i].input < 0)
      return intern({{{static_cast<std::uint32_t>(i)}, 1}});
  atoms_.push_back({.input = -1, .numerator = a, .denominator = b});
  return intern({{{static_cast<std::uint32_t>(atoms_.size() - 1)}, 1}});
}

namespace {

std::int64_t quotient(std::int64_t n, std::int64_t d) {
  if (is_symbol(n) || is_symbol(d)) return current_symbols().floor_divide(n, d);
  if (d == 0) fail<InvalidArgumentError>("the size ", n, " is divided by a size that is zero");
  return (n - (((n % d) + d) % d)) / d;
}

}  // namespace

std::int64_t Symbols::evaluate(std::int64_t size, const std::vector<std::int64_t>& inputs) const {
  if (!has(size)) return size;  // a number, a seed say
  // Atoms only refer to names made before them, so the depth is that of the user's own arithmetic.
  std::int64_t sum = 0;
  for (const Term& t : names_[entry_of(size)]) {
    std::int64_t product = t.factor;
    for (std::uint32_t id : t.atoms) {
      const Atom& atom = atoms_[id];
      const std::int64_t value = atom.input >= 0 ? inputs[static_cast<std::size_t>(atom.input)]
                                                 : quotient(evaluate(atom.numerator, inputs),
                                                            evaluate(atom.denominator, inputs));
      product = is_symbol(product) || is_symbol(value) ? current_symbols().multiply(product, value)
                                                       : product * value;
    }
    sum =
        is_symbol(sum) || is_symbol(product) ? current_symbols().add(sum, product) : sum + product;
  }
  return sum;
}

std::int64_t Symbols::input_of(std::int64_t size) const {
  if (!has(size)) return -1;
  const Polynomial& p = names_[entry_of(size)];
  const bool plain = p.size() == 1 && p[0].factor == 1 && p[0].atoms.size() == 1;
  return plain ? atoms_[p[0].atoms[0]].input : -1;
}

std::int64_t Symbols::name_of_input(std::size_t input) const {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (input_of(name_of_entry(i)) == static_cast<std::int64_t>(input)) return name_of_entry(i);
  fail<InvalidArgumentError>(
      "a size is known only inside of the loop or branch where it was found; it cannot be the size "
      "of something outside");
}

std::string Symbols::print(std::int64_t size) const {
  if (!has(size)) return std::to_string(size);
  std::string text;
  for (const Term& t : names_[entry_of(size)]) {
    if (!text.empty()) text += " + ";
    if (t.factor != 1 || t.atoms.empty()) text += std::to_string(t.factor);
    for (std::size_t i = 0; i < t.atoms.size(); ++i) {
      if (i > 0 || t.factor != 1) text += "*";
      const Atom& atom = atoms_[t.atoms[i]];
      text += atom.input >= 0
                  ? "s" + std::to_string(atom.input)
                  : "(" + print(atom.numerator) + ")//(" + print(atom.denominator) + ")";
    }
  }
  return text;
}

std::string print_shape(const Shape& shape, const Symbols& symbols) {
  std::string text = "(";
  for (int i = 0; i < shape.rank(); ++i) text += (i > 0 ? ", " : "") + symbols.print(shape[i]);
  return text + (shape.rank() == 1 ? ",)" : ")");
}

}  // namespace gradus
