#include "graph/symbols.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "base/check.h"
#include "graph/ambient_graph.h"
#include "graph/context.h"

namespace gradus {

constinit thread_local Graph* ambient_graph = nullptr;

namespace {

constinit thread_local Symbols* current = nullptr;
constinit thread_local bool sees_ambient = true;

// What a size that nobody gave yet is taken for: large, and no two alike.
constexpr std::int64_t kNoHint = 1'000'003;

bool same_size(Size a, Size b) { return is_same(a, b); }

using Lock = std::lock_guard<std::recursive_mutex>;

}  // namespace

Symbols* symbols_of_trace() {
  if (current) return current;
  return ambient_graph && sees_ambient ? &ambient_graph->symbols() : nullptr;
}

Symbols& current_symbols() {
  Symbols* symbols = symbols_of_trace();
  if (!symbols)
    fail<InvalidArgumentError>(
        "got a size that belongs to a function which is traced; it is known ", "only there");
  return *symbols;
}

bool is_size(Size size) {
  if (size.is_known()) return size >= 0;
  const Symbols* symbols = symbols_of_trace();
  return symbols && symbols->has(size);
}

bool unknown_sizes_agree(Size a, Size b) {
  Symbols* symbols = symbols_of_trace();
  return symbols && symbols->agree(a, b);
}

bool is_at_most(Size a, Size b) {
  Symbols* symbols = a.is_known() && b.is_known() ? nullptr : symbols_of_trace();
  return symbols ? symbols->at_most(a, b) : a <= b;
}

namespace detail {

Size unknown_sum(Size a, Size b) { return current_symbols().add(a, b); }
Size unknown_difference(Size a, Size b) { return current_symbols().subtract(a, b); }
Size unknown_product(Size a, Size b) { return current_symbols().multiply(a, b); }
Size unknown_quotient(Size a, Size b) {
  if (a.is_known() && b.is_known())
    fail<InvalidArgumentError>("the size ", a, " is divided by a size that is zero");
  return current_symbols().floor_divide(a, b);
}
// Outside of traces only what is always so counts.
bool unknown_is_equal(Size a, Size b) {
  Symbols* symbols = symbols_of_trace();
  return symbols && symbols->is_equal(a, b);
}
bool unknown_is_less(Size a, Size b) { return current_symbols().is_less(a, b); }
std::int64_t unknown_as_number(Size size) { return current_symbols().as_number(size); }

}  // namespace detail

SymbolScope::SymbolScope(Symbols& symbols) : saved_(current) { current = &symbols; }
SymbolScope::~SymbolScope() { current = saved_; }

OutsideTraces::OutsideTraces()
    : saved_(std::exchange(current, nullptr)), saw_(std::exchange(sees_ambient, false)) {}
OutsideTraces::~OutsideTraces() {
  current = saved_;
  sees_ambient = saw_;
}

bool Symbols::has(Size size) const {
  if (size.is_known()) return false;
  const Lock lock(mutex_);
  const std::int64_t input = input_of(size), at = Size::kLastName - size.bits_ - kMostInputs;
  return input >= 0 ? static_cast<std::size_t>(input) < hints_.size()
                    : static_cast<std::size_t>(at) < names_.size();
}

std::size_t Symbols::input_count() const {
  const Lock lock(mutex_);
  return hints_.size();
}

Symbols::Polynomial Symbols::polynomial(Size size) const {
  if (size.is_known()) return size.bits_ == 0 ? Polynomial{} : Polynomial{{{}, size.bits_}};
  GRADUS_ASSERT(has(size));
  if (const std::int64_t input = input_of(size); input >= 0)
    return {{{atom_of_input_[static_cast<std::size_t>(input)]}, 1}};
  return names_[static_cast<std::size_t>(Size::kLastName - size.bits_ - kMostInputs)];
}

std::optional<std::int64_t> Symbols::as_constant(const Polynomial& p) const {
  if (p.empty()) return 0;
  if (p.size() == 1 && p[0].atoms.empty()) return p[0].factor;
  return {};
}

Size Symbols::intern(Polynomial p) {
  if (const std::optional<std::int64_t> number = as_constant(p)) return *number;
  if (p.size() == 1 && p[0].factor == 1 && p[0].atoms.size() == 1)
    if (const std::int64_t input = atoms_[p[0].atoms[0]].input; input >= 0) return name(input);
  const auto found = std::find(names_.begin(), names_.end(), p);
  const std::int64_t at = found - names_.begin();
  if (found == names_.end()) names_.push_back(std::move(p));
  return name(kMostInputs + at);
}

void Symbols::expect(std::span<const std::optional<std::int64_t>> hints) {
  expected_.assign(hints_.size(), std::nullopt);
  expected_.insert(expected_.end(), hints.begin(), hints.end());
}

Size Symbols::fresh(std::optional<std::int64_t> hint) {
  const Lock lock(mutex_);
  GRADUS_ASSERT(hints_.size() < static_cast<std::size_t>(kMostInputs));
  const auto input = static_cast<std::int64_t>(hints_.size());
  if (!hint && hints_.size() < expected_.size()) hint = expected_[hints_.size()];
  atom_of_input_.push_back(static_cast<std::uint32_t>(atoms_.size()));
  atoms_.push_back({.input = input});
  hints_.push_back(hint);
  assumed_.push_back(kNoHint + 1000 * input);
  if (turns_ > 0) by_turn_.push_back(hints_.size() - 1);
  return name(input);
}

Size Symbols::fresh_in_each_turn() {
  const Lock lock(mutex_);
  const Size size = fresh();
  hints_.back().reset();
  by_turn_.push_back(hints_.size() - 1);
  return size;
}

bool Symbols::differs_by_turn(Size size) const {
  const Lock lock(mutex_);
  return std::ranges::any_of(by_turn_, [&](std::size_t i) { return depends_on(size, i); });
}

Size Symbols::add(Size a, Size b) {
  const Lock lock(mutex_);
  std::map<Monomial, std::int64_t> sum;
  const auto count = [&](Size size) {
    for (const Term& t : polynomial(size)) {
      std::int64_t& factor = sum[t.atoms];
      if (__builtin_add_overflow(factor, t.factor, &factor))
        detail::fail_size(factor, '+', t.factor);
    }
  };
  count(a);
  count(b);
  Polynomial p;
  for (auto& [atoms, factor] : sum)
    if (factor != 0) p.push_back({atoms, factor});
  return intern(std::move(p));
}

Size Symbols::subtract(Size a, Size b) { return add(a, multiply(b, -1)); }

Size Symbols::multiply(Size a, Size b) {
  const Lock lock(mutex_);
  std::map<Monomial, std::int64_t> product;
  for (const Term& s : polynomial(a)) {
    for (const Term& t : polynomial(b)) {
      Monomial atoms = s.atoms;
      atoms.insert(atoms.end(), t.atoms.begin(), t.atoms.end());
      std::sort(atoms.begin(), atoms.end());
      std::int64_t& factor = product[atoms];
      std::int64_t times;
      if (__builtin_mul_overflow(s.factor, t.factor, &times) ||
          __builtin_add_overflow(factor, times, &factor))
        detail::fail_size(s.factor, '*', t.factor);
    }
  }
  Polynomial p;
  for (auto& [atoms, factor] : product)
    if (factor != 0) p.push_back({atoms, factor});
  return intern(std::move(p));
}

// Exact where every term of the numerator is a multiple of a one-term denominator.
Size Symbols::floor_divide(Size a, Size b) {
  const Lock lock(mutex_);
  if (same_size(b, 1)) return a;
  if (is_equal(b, 0)) fail<InvalidArgumentError>("the size ", print(a), " is divided by zero");
  if (same_size(a, b)) return 1;
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
    if (atoms_[i].input < 0 && same_size(atoms_[i].numerator, a) &&
        same_size(atoms_[i].denominator, b))
      return intern({{{static_cast<std::uint32_t>(i)}, 1}});
  atoms_.push_back({.input = -1, .numerator = a, .denominator = b});
  return intern({{{static_cast<std::uint32_t>(atoms_.size() - 1)}, 1}});
}

namespace {

Size quotient(Size n, Size d) {
  return same_size(n, kUnbound) || same_size(d, kUnbound) ? kUnbound : n / d;
}

}  // namespace

Size Symbols::evaluate(Size size, const Sizes& inputs) const {
  if (size.is_known()) return size;
  if (!has(size) || static_cast<std::size_t>(input_of(size) + 1) > inputs.size()) {
    fail<InvalidArgumentError>(
        "got a size that belongs to another function than the one which uses it; give the tensor, "
        "or the size as a number");
  }
  if (const std::int64_t i = input_of(size); i >= 0) return inputs[static_cast<std::size_t>(i)];
  const Lock lock(mutex_);
  // Atoms only refer to names made before them, so the depth is that of the user's own arithmetic.
  Size sum = 0;
  const Polynomial terms = polynomial(size);  // a copy: the sizes given may be of this table
  for (const Term& t : terms) {
    Size product = t.factor;
    for (const std::uint32_t id : t.atoms) {
      const Atom atom = atoms_[id];
      const Size value = atom.input >= 0 ? inputs[static_cast<std::size_t>(atom.input)]
                                         : quotient(evaluate(atom.numerator, inputs),
                                                    evaluate(atom.denominator, inputs));
      if (same_size(value, kUnbound)) return kUnbound;
      product *= value;
    }
    sum += product;
  }
  return sum;
}

Size Symbols::name_of_input(std::size_t input) const {
  if (input < input_count()) return name(static_cast<std::int64_t>(input));
  fail<InvalidArgumentError>(
      "a size is known only inside of the loop or branch where it was found; it cannot be the size "
      "of something outside");
}

bool Symbols::depends_on(Size size, std::size_t input) const {
  const Lock lock(mutex_);
  if (!has(size)) return false;
  for (const Term& t : polynomial(size))
    for (const std::uint32_t id : t.atoms)
      if (atoms_[id].input >= 0 ? atoms_[id].input == static_cast<std::int64_t>(input)
                                : depends_on(atoms_[id].numerator, input) ||
                                      depends_on(atoms_[id].denominator, input))
        return true;
  return false;
}

std::string Symbols::print(Size size) const {
  const Lock lock(mutex_);
  if (!has(size)) return to_string(size);
  std::string text;
  for (const Term& t : polynomial(size)) {
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

std::vector<std::optional<std::int64_t>> Symbols::hints() const {
  const Lock lock(mutex_);
  return hints_;
}

Sizes Symbols::sizes_as_traced() const {
  Sizes sizes;
  for (std::size_t i = 0; i < hints_.size(); ++i) sizes.push_back(hints_[i].value_or(assumed_[i]));
  return sizes;
}

Size Symbols::as_traced(Size size) const {
  try {
    return evaluate(size, sizes_as_traced());
  } catch (const ResourceExhaustedError&) {  // a product of many that are taken to be large
    constexpr std::int64_t kHuge = std::int64_t{1} << 60;
    return kHuge + (Size::kLastName - size.bits_);  // different ones are taken to be different
  }
}

void Symbols::look_up(Size size) {
  if (!find_hint_) return;
  was_looked_up_.resize(hints_.size(), false);
  for (std::size_t i = 0; i < was_looked_up_.size(); ++i) {
    if (hints_[i] || was_looked_up_[i] || std::ranges::count(by_turn_, i) || !depends_on(size, i))
      continue;
    was_looked_up_[i] = true;
    hints_[i] = find_hint_(i);
  }
}

void Symbols::forget_guards(std::size_t from) {
  const Lock lock(mutex_);
  guards_.resize(std::min(from, guards_.size()));
  guard_count_.store(guards_.size(), std::memory_order_release);
}

void Symbols::add(const Guard& guard) {
  const Lock lock(mutex_);
  guards_.push_back(guard);
  guard_count_.store(guards_.size(), std::memory_order_release);
}

std::shared_ptr<Symbols> Symbols::with_guards(
    const std::function<bool(const Guard&)>& keeps) const {
  const Lock lock(mutex_);
  const auto made = std::make_shared<Symbols>();
  made->atoms_ = atoms_;
  made->atom_of_input_ = atom_of_input_;
  made->names_ = names_;
  made->hints_ = hints_;
  made->expected_ = expected_;
  made->assumed_ = assumed_;
  made->by_turn_ = by_turn_;
  std::ranges::copy_if(guards_, std::back_inserter(made->guards_), keeps);
  made->guard_count_ = made->guards_.size();
  return made;
}

void Symbols::note(Guard::Question question, Size a, Size b, bool answer) {
  constexpr std::size_t kMostGuards = 10000;
  if (guards_.size() >= kMostGuards) {
    fail<InvalidArgumentError>(
        "the function asked ", kMostGuards, " questions about sizes that only its run will know, ",
        print(a), " and ", print(b), " last; a loop over such a size is gd::while_loop");
  }
  add({question, a, b, answer, thread_context.where});
}

std::optional<bool> Symbols::earlier_answer(Guard::Question question, Size a, Size b) const {
  for (const Guard& g : guards_) {
    if (g.question != question) continue;
    if (same_size(g.a, a) && same_size(g.b, b)) return g.answer;
    if (question == Guard::Question::equal && same_size(g.a, b) && same_size(g.b, a))
      return g.answer;
  }
  return {};
}

// What holds whatever the inputs' sizes are: these are at least 0.
bool Symbols::is_never_negative(Size size) const {
  if (size.is_known()) return size.bits_ >= 0;
  for (const Term& t : polynomial(size)) {
    if (t.factor < 0) return false;
    for (const std::uint32_t id : t.atoms)
      if (atoms_[id].input < 0 &&
          !(is_never_negative(atoms_[id].numerator) && is_never_negative(atoms_[id].denominator)))
        return false;
  }
  return true;
}

bool Symbols::has_hint(Size size) const {
  for (std::size_t i = 0; i < hints_.size(); ++i)
    if (!hints_[i] && depends_on(size, i)) return false;
  return true;
}

// Whether a and b are equal, where that does not hang on the inputs' sizes.
std::optional<bool> Symbols::always_equal(Size a, Size b) {
  if (const auto difference = as_constant(polynomial(subtract(a, b)))) return *difference == 0;
  if (is_never_negative(subtract(subtract(a, b), 1)) ||
      is_never_negative(subtract(subtract(b, a), 1)))
    return false;
  return {};
}

bool Symbols::is_equal(Size a, Size b) {
  const Lock lock(mutex_);
  if (const auto known = always_equal(a, b)) return *known;
  if (const auto known = earlier_answer(Guard::Question::equal, a, b)) return *known;
  look_up(a);
  look_up(b);
  const bool answer = same_size(as_traced(a), as_traced(b));
  note(Guard::Question::equal, a, b, answer);
  return answer;
}

// Whether the size of an input that no call has given can be taken for `value` from now on.
bool Symbols::can_take_for(Size size, Size value) const {
  const std::int64_t input = input_of(size);
  return input >= 0 && !hints_[static_cast<std::size_t>(input)] &&
         !depends_on(value, static_cast<std::size_t>(input));
}

namespace {

bool holds(const Symbols& symbols, const Guard& g, const Sizes& inputs) {
  const Size a = symbols.evaluate(g.a, inputs), b = symbols.evaluate(g.b, inputs);
  if (same_size(a, kUnbound) || same_size(b, kUnbound)) return true;
  // In another trace, sizes that no call has given there are taken to be as it is needed here.
  if (g.question == Guard::Question::less) return g.answer ? a < b : is_at_most(b, a);
  return g.answer ? sizes_agree(a, b) : a != b;
}

}  // namespace

// Does so, with all that are taken for the same already, if what was answered before stays true.
bool Symbols::take_for(Size size, Size value) {
  const std::vector<std::int64_t> before = assumed_;
  const Sizes was = sizes_as_traced();
  const std::int64_t from = as_traced(size), to = as_traced(value);
  std::ranges::replace(assumed_, from, to);
  const Sizes now = sizes_as_traced();
  // An equation that nobody solved (see agree) need not hold for what is assumed.
  const auto stays = [&](const Guard& g) { return holds(*this, g, now) || !holds(*this, g, was); };
  if (to >= 0 && std::ranges::all_of(guards_, stays)) return true;
  assumed_ = before;
  return false;
}

bool Symbols::agree(Size a, Size b) {
  const Lock lock(mutex_);
  if (const auto known = always_equal(a, b)) return *known;
  if (const auto known = earlier_answer(Guard::Question::equal, a, b)) return *known;
  bool answer = same_size(as_traced(a), as_traced(b));
  if (!answer) {
    const bool first = can_take_for(a, b), second = can_take_for(b, a);
    if (first || second) {
      answer = (first && take_for(a, b)) || (second && take_for(b, a));
    } else {  // nobody solves equations here: that a call must keep the guard is enough
      answer = !(has_hint(a) && has_hint(b));
    }
  }
  note(Guard::Question::equal, a, b, answer);
  return answer;
}

bool Symbols::is_less(Size a, Size b) {
  const Lock lock(mutex_);
  if (is_never_negative(subtract(a, b))) return false;
  if (is_never_negative(subtract(subtract(b, a), 1))) return true;
  if (const auto known = earlier_answer(Guard::Question::less, a, b)) return *known;
  look_up(a);
  look_up(b);
  const bool answer = as_traced(a) < as_traced(b);
  note(Guard::Question::less, a, b, answer);
  return answer;
}

bool Symbols::at_most(Size a, Size b) {
  const Lock lock(mutex_);
  if (is_never_negative(subtract(b, a))) return true;
  if (is_never_negative(subtract(subtract(a, b), 1))) return false;
  if (const auto known = earlier_answer(Guard::Question::less, b, a)) return !*known;
  const bool answer = !(has_hint(a) && has_hint(b)) || as_traced(a) <= as_traced(b);
  note(Guard::Question::less, b, a, !answer);
  return answer;
}

std::int64_t Symbols::as_number(Size size) {
  const Lock lock(mutex_);
  look_up(size);
  if (!has_hint(size)) {
    fail<InvalidArgumentError>(
        "the size ", print(size), " is needed as a number, but only the call ",
        "of the program will know it; give it in the signature, or compute ", "with shape(x)");
  }
  const Size number = as_traced(size);
  if (!earlier_answer(Guard::Question::equal, size, number))
    note(Guard::Question::equal, size, number, true);
  return number;
}

std::vector<Guard> Symbols::guards() const {
  const Lock lock(mutex_);
  return guards_;
}

std::optional<Guard> Symbols::broken_guard(const Sizes& inputs) const {
  Sizes all = inputs;
  all.resize(std::max(all.size(), input_count()), kUnbound);  // sizes that were made since
  // A copy, and no lock: to ask may add guards to this table, or to that of another trace.
  for (const Guard& g : guards())
    if (!holds(*this, g, all)) return g;
  return {};
}

std::string Symbols::print(const Guard& g) const {
  const bool turned = g.a.is_known();  // "s0 > 40" rather than "40 < s0"
  const char* relation = g.question == Guard::Question::equal ? (g.answer ? " == " : " != ")
                         : turned                             ? (g.answer ? " > " : " <= ")
                                                              : (g.answer ? " < " : " >= ");
  std::ostringstream text;
  text << print(turned ? g.b : g.a) << relation << print(turned ? g.a : g.b);
  if (g.where.line() > 0) text << " at " << g.where.file_name() << ":" << g.where.line();
  return text.str();
}

std::string print_shape(const Shape& shape, const Symbols& symbols) {
  std::string text = "(";
  for (int i = 0; i < shape.rank(); ++i) text += (i > 0 ? ", " : "") + symbols.print(shape[i]);
  return text + (shape.rank() == 1 ? ",)" : ")");
}

}  // namespace gradus
