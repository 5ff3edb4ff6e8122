// The sizes that a traced program will only know when it runs, and what was asked about them.
//
// A size that is not a number (gradus/size.h) names an entry of the table of its trace: the size of
// an input, or a sum, product or quotient of sizes in a normal form, so that equal sizes have equal
// names. The graphs of one function (its branches and loops, what passes make of them, its
// derivatives) share one table, so a name means the same in all of them.
//
// Each input's size has a hint: what it is in the call that is traced. A question about sizes is
// answered by the hints, and the answer is kept as a guard. Whoever wants to run the program at
// other sizes asks `guards_hold` first. Sizes that no call has given yet (a signature that says
// "any") are taken for large numbers that differ from each other.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "gradus/error.h"
#include "gradus/shape.h"

namespace gradus {

using Sizes = std::vector<Size>;  // by input
inline constexpr Size kUnbound =
    std::int64_t{0x7fffffffffffffff};  // among sizes by input: nobody said

// An answer about sizes that a program relies on.
struct Guard {
  enum class Question : std::uint8_t { equal, less };
  Question question;
  Size a, b;
  bool answer;
  std::source_location where;  // who asked
};

class Symbols {
 public:
  Size fresh(std::optional<std::int64_t> hint = {});  // a new unknown size
  // The same for a size that is another one in each turn of a loop: no hint would serve all.
  Size fresh_in_each_turn();
  bool differs_by_turn(Size size) const;
  // While this lives, sizes that are made are those of the body of a loop: they differ by turn.
  class Turns {
   public:
    explicit Turns(Symbols& symbols) : symbols_(symbols) { ++symbols_.turns_; }
    ~Turns() { --symbols_.turns_; }
    Turns(const Turns&) = delete;

   private:
    Symbols& symbols_;
  };
  // Hints for the sizes that will be made from now on without one: what an earlier run found.
  void expect(std::span<const std::optional<std::int64_t>> hints);
  // A size that the run finds has no hint until a question needs one. Then this is asked, if it is
  // set: what the size of this input is in the call that is traced; none if that cannot be said.
  using FindHint = std::function<std::optional<std::int64_t>(std::size_t input)>;
  void set_find_hint(FindHint find) { find_hint_ = std::move(find); }
  // A polynomial with integer coefficients in atoms: an atom is an input's size, or the floor
  // quotient of two sizes that has no simpler form.
  Size add(Size a, Size b);
  Size subtract(Size a, Size b);
  Size multiply(Size a, Size b);
  Size floor_divide(Size a, Size b);
  // The inputs' sizes may be unknown themselves, in the current trace; kUnbound if one is that.
  Size evaluate(Size size, const Sizes& inputs) const;
  // If `size` is the size of an input: which one, else -1. Asked at every call, so the name says
  // it.
  static std::int64_t input_of(Size size) {
    const std::int64_t at = Size::kLastName - size.bits_;
    return at >= 0 && at < kMostInputs ? at : -1;
  }
  Size name_of_input(std::size_t input) const;
  std::string print(Size size) const;
  std::size_t input_count() const;
  bool has(Size size) const;  // whether it is a name, and one of ours
  // Sizes lie in int64 tensors while ops move them (compile/tracing.cpp).
  static std::int64_t in_tensor(Size size) { return size.bits_; }
  static Size from_tensor(std::int64_t bits) {
    return bits > Size::kLastName ? Size(bits) : Size(Size::Name{bits});
  }
  // Whether `size` is computed from this input's size.
  bool depends_on(Size size, std::size_t input) const;

  // Questions: answered by what is always so, or else by the hints, with a guard.
  bool is_equal(Size a, Size b);
  bool is_less(Size a, Size b);
  // As is_equal, but a size that no call has given is taken to be what an op needs it to be, unless
  // that contradicts an answer given before.
  bool agree(Size a, Size b);
  // The same for a <= b.
  bool at_most(Size a, Size b);
  std::int64_t as_number(Size size);
  void add(const Guard& guard);          // that was noted elsewhere, and saved
  void forget_guards(std::size_t from);  // asked for a trace that was dropped
  // A table with the same names that relies on some of the guards.
  std::shared_ptr<Symbols> with_guards(const std::function<bool(const Guard&)>& keeps) const;
  // What each input's size was in the call that was traced; none if there was no call.
  std::vector<std::optional<std::int64_t>> hints() const;
  std::vector<Guard> guards() const;
  std::size_t guard_count() const { return guard_count_.load(std::memory_order_acquire); }
  // The guard that does not hold at these (known) sizes; inputs that are not bound are skipped.
  std::optional<Guard> broken_guard(const Sizes& inputs) const;
  bool guards_hold(const Sizes& inputs) const { return !broken_guard(inputs); }
  std::string print(const Guard& guard) const;  // "s0 > 40 at main.cpp:12"

 private:
  using Monomial = std::vector<std::uint32_t>;  // sorted atoms, repeated for powers
  struct Term {
    Monomial atoms;
    std::int64_t factor;
    friend bool operator==(const Term&, const Term&) = default;
  };
  using Polynomial = std::vector<Term>;  // sorted by atoms, no zero factors
  struct Atom {
    std::int64_t input = -1;  // number of the input, or
    Size numerator = 0, denominator = 0;
  };

  static constexpr std::int64_t kMostInputs = 1 << 20;  // other names come after theirs
  static Size name(std::int64_t at) { return Size(Size::Name{Size::kLastName - at}); }
  Polynomial polynomial(Size size) const;
  Size intern(Polynomial p);
  std::optional<std::int64_t> as_constant(const Polynomial& p) const;
  bool is_never_negative(Size size) const;
  Sizes sizes_as_traced() const;  // of the inputs: the hints, and what is assumed
  Size as_traced(Size size) const;
  bool has_hint(Size size) const;  // all of it
  void look_up(Size size);
  std::optional<bool> always_equal(Size a, Size b);
  std::optional<bool> earlier_answer(Guard::Question question, Size a, Size b) const;
  bool can_take_for(Size size, Size value) const;
  bool take_for(Size size, Size value);
  void note(Guard::Question question, Size a, Size b, bool answer);

  mutable std::recursive_mutex mutex_;  // loops compile their bodies while the program runs
  std::vector<Atom> atoms_;
  std::vector<std::uint32_t> atom_of_input_;
  std::vector<Polynomial> names_;                   // of sizes that are not just an input's
  std::vector<std::optional<std::int64_t>> hints_;  // by input
  std::vector<std::optional<std::int64_t>> expected_;
  FindHint find_hint_;
  std::vector<bool> was_looked_up_;    // by input
  std::vector<std::int64_t> assumed_;  // by input: what it is taken for without a hint
  std::vector<std::size_t> by_turn_;   // inputs that are different in each turn of a loop
  std::atomic<int> turns_ = 0;         // loops whose bodies are being traced
  std::vector<Guard> guards_;
  std::atomic<std::size_t> guard_count_ = 0;
};

// A program was about to run at sizes that it does not serve.
class BrokenGuard : public InvalidArgumentError {
 public:
  using InvalidArgumentError::InvalidArgumentError;
  struct Found {
    std::size_t input;
    std::int64_t size;
    const Symbols* table;  // whose input it is: a region may come from another function
  };
  std::vector<Found> found = {};  // what the run had found until then
};

// The table of the trace that this thread is in; null outside of one.
Symbols* symbols_of_trace();
// The same where there must be one: a negative size is else a caller's mistake,
// InvalidArgumentError.
Symbols& current_symbols();

// Sets the table for a scope.
class SymbolScope {
 public:
  explicit SymbolScope(Symbols& symbols);
  ~SymbolScope();
  SymbolScope(const SymbolScope&) = delete;

 private:
  Symbols* saved_;
};

// Passes look at finished graphs: whatever this thread traces meanwhile, their sizes are not of it,
// and two that are not the same are not known to be equal.
class OutsideTraces {
 public:
  OutsideTraces();
  ~OutsideTraces();
  OutsideTraces(const OutsideTraces&) = delete;

 private:
  Symbols* saved_;
  bool saw_;
};

// Sizes that an op needs to be equal: as ==, except that sizes which no call has given yet are
// taken to be so, until a call does.
bool unknown_sizes_agree(Size a, Size b);
inline bool sizes_agree(Size a, Size b) {
  return is_same(a, b) || (!(a.is_known() && b.is_known()) && unknown_sizes_agree(a, b));
}
// The same where a size must not be larger than another.
bool is_at_most(Size a, Size b);
inline bool shapes_agree(const Shape& a, const Shape& b) {
  return a.rank() == b.rank() && std::equal(a.begin(), a.end(), b.begin(), sizes_agree);
}

std::string print_shape(const Shape& shape, const Symbols& symbols);  // "(s0, 3)"

// A size as attributes may hold it: not negative, or one of the current trace.
bool is_size(Size size);

inline Size num_elements(const Shape& shape) { return shape.num_elements(); }

}  // namespace gradus
