// Control flow that depends on tensors.
//
//   auto y = gd::cond(x > 0, [&] { return gd::sqrt(x); }, [&] { return -x; });
//   auto [n, sum] = gd::while_loop([](auto i, auto) { return i < 10; },
//                                  [&](auto i, auto s) { return std::tuple(i + 1, s + x); },
//                                  std::tuple(gd::Tensor(0), x));
//
// Outside of a traced function this is C++ control flow: one branch runs, a tape sees its ops.
// While a function is traced and the predicate is a name, every branch or body is traced once and
// becomes part of the program, which decides when it runs. Branches may use what is around them,
// read and assign variables, and return any structure of tensors (gradus/structure.h).
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <tuple>

#include "gradus/in.h"
#include "gradus/structure_key.h"

namespace gradus {

struct OpenRegion;

namespace detail {

using Branch = std::function<std::vector<Tensor>()>;

// Which branch a predicate or an index chooses, or -1 if only the program will know.
std::int64_t known_branch(const char* what, const Tensor& chooser, std::size_t branches);
// All branches traced: the results of the one that the program will choose.
std::vector<Tensor> choose(const char* what, const Tensor& chooser,
                           const std::vector<Branch>& branches);

// A branch that is traced before it is known which of its values are results: whoever compares
// branches does so when all of them are traced. One that is dropped leaves nothing in the program.
class TracedBranch {
 public:
  TracedBranch(const Tensor& chooser, const std::function<void()>& f);
  ~TracedBranch();
  TracedBranch(TracedBranch&&) noexcept;

 private:
  friend std::vector<Tensor> choose(const char* what, const Tensor& chooser,
                                    std::vector<TracedBranch> branches,
                                    const std::vector<std::vector<Tensor>>& results);
  std::unique_ptr<OpenRegion> region_;
};
std::vector<Tensor> choose(const char* what, const Tensor& chooser,
                           std::vector<TracedBranch> branches,
                           const std::vector<std::vector<Tensor>>& results);

[[noreturn]] void fail_structure(const char* what, const char* why);

// A branch whose result is kept without its tensors, for the structure.
template <class R, class F>
Branch flat_branch(F& f, std::optional<R>& structure) {
  return [&] {
    R result = f();
    if (structure && settings_of(emptied(*structure)) != settings_of(emptied(result)))
      fail_structure("cond", "its functions give structures with other numbers or names of parts");
    std::vector<Tensor> tensors = tensors_of(result);
    if (!structure) structure = std::move(result);
    return tensors;
  };
}

template <class R>
constexpr void require_values_of_branch() {
  if constexpr (!std::is_void_v<R>) {
    require_structure<R>();
    static_assert(
        !is_structure<R> || holds_values_only<R>,
        "[cond] which branch runs is decided when the program does, so a number, a text or a "
        "variable in its result could not follow: return it as a gd::Tensor");
  }
}
template <class TrueFn, class FalseFn>
auto run_cond(const Tensor& chooser, TrueFn& true_fn, FalseFn& false_fn) {
  using R = std::invoke_result_t<TrueFn&>;
  static_assert(std::is_same_v<R, std::invoke_result_t<FalseFn&>>,
                "[cond] both functions give the same type");
  require_values_of_branch<R>();
  const std::int64_t known = known_branch("cond", chooser, 2);
  if constexpr (std::is_void_v<R>) {
    if (known >= 0) return known ? true_fn() : false_fn();
    const auto run = [](auto& f) {
      return [&f] {
        f();
        return std::vector<Tensor>();
      };
    };
    choose("cond", chooser, {run(false_fn), run(true_fn)});
  } else {
    if (known >= 0) return known ? true_fn() : false_fn();
    std::optional<R> structure;
    const auto out = choose(
        "cond", chooser, {flat_branch<R>(false_fn, structure), flat_branch<R>(true_fn, structure)});
    return with_tensors(std::move(*structure), out);
  }
}

template <class S>
constexpr void require_loop_variables() {
  require_structure<S>();
  static_assert(!is_structure<S> || holds_values_only<S>,
                "[loop] a number, a text or a variable among the variables of a loop could not "
                "change from one iteration to the next: make it a gd::Tensor, or capture it");
}

}  // namespace detail

// true_fn() or false_fn(). Both give the same structure with the same dtypes and numbers of axes;
// where their sizes differ, the program goes on with those of the one that it chooses.
template <class TrueFn, class FalseFn>
auto cond(In pred, TrueFn&& true_fn, FalseFn&& false_fn) {
  constexpr bool are_functions = std::is_invocable_v<TrueFn&> && std::is_invocable_v<FalseFn&>;
  static_assert(
      are_functions,
      "[cond] takes two functions without parameters, of which it calls one: write `[&] { "
      "return x; }`; gd::where chooses between tensors");
  if constexpr (are_functions) {
    return detail::run_cond(pred.tensor(), true_fn, false_fn);
  }
}

// branches[index](); an index that is out of range takes the last one.
template <class F>
auto switch_case(In index, const std::vector<F>& branches) {
  using R = std::invoke_result_t<const F&>;
  detail::require_values_of_branch<R>();
  const Tensor& chooser = index.tensor();
  const std::int64_t known = detail::known_branch("switch_case", chooser, branches.size());
  if (known >= 0) return branches[static_cast<std::size_t>(known)]();
  std::optional<R> structure;
  std::vector<detail::Branch> flat;
  for (const F& f : branches) flat.push_back(detail::flat_branch<R>(f, structure));
  const auto out = detail::choose("switch_case", chooser, flat);
  return with_tensors(std::move(*structure), out);
}

struct WhileOptions {
  std::int64_t maximum_iterations = -1;  // below 0: no limit
};

namespace detail {

using LoopTest = std::function<Tensor(const std::vector<Tensor>&)>;
using LoopBody = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
// Axes that are said to vary have unknown sizes from the first turn on; others from when the body
// is seen to change them.
using VaryingAxes = std::vector<std::vector<bool>>;  // by variable, or none
std::vector<Tensor> run_while(const LoopTest& test, const LoopBody& body, std::vector<Tensor> vars,
                              std::int64_t maximum_iterations, const VaryingAxes& varying = {});
// While a function is traced: those variables after the loop that follow from constants alone; the
// others are undefined. Nothing is added to the program.
std::vector<Tensor> known_results(const LoopTest& test, const LoopBody& body,
                                  std::vector<Tensor> vars, std::int64_t maximum_iterations);
// `body` takes the variables and one row of each x, and gives the variables and rows of results.
std::vector<Tensor> run_scan(const LoopBody& body, std::vector<Tensor> vars,
                             const std::vector<Tensor>& xs, Size length, bool reverse);
Size rows_of(const std::vector<Tensor>& xs);  // their first size

// The shape of a tensor that was traced inside a loop or branch, as the code around it names it;
// sizes that are found inside are 0.
Shape shape_outside(const Tensor& inner);

template <class S>
void check_structure(const std::string& settings, const S& next) {
  if constexpr (contents_of<S>().varies)
    if (settings_of(emptied(next)) != settings)
      fail_structure("loop", "an iteration gives another number of parts, or other names of them");
}

template <class F, class S>
constexpr bool takes_parts() {
  if constexpr (requires { std::tuple_size<S>::value; }) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return std::is_invocable_v<F&, const std::tuple_element_t<I, S>&...>;
    }
    (std::make_index_sequence<std::tuple_size_v<S>>{});
  } else {
    return std::is_invocable_v<F&, const S&>;
  }
}
template <class F, class S>
auto call_with(F& f, const S& structure) {
  if constexpr (requires { std::tuple_size<S>::value; }) {
    return std::apply(f, structure);
  } else {
    return f(structure);
  }
}
template <class R>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;

}  // namespace detail

// Replaces loop_vars by body(loop_vars) as long as test(loop_vars) is true. Loop variables are a
// structure of tensors (a tuple becomes several arguments) and keep their dtypes and numbers of
// axes; their sizes may change from turn to turn (rows that grow). All derivatives are there,
// inside a traced function too: they are loops.
template <class Test, class Body, class S>
S while_loop(Test test, Body body, S loop_vars, WhileOptions options = {}) {
  detail::require_loop_variables<S>();
  constexpr bool fit = detail::takes_parts<Test, S>() && detail::takes_parts<Body, S>();
  static_assert(fit,
                "[while_loop] the test and the body take the loop variables: as many as a tuple of "
                "them has, by value or as `const gd::Tensor&`");
  if constexpr (!fit) {
    return loop_vars;
  } else {
    static_assert(std::is_convertible_v<decltype(detail::call_with(body, loop_vars)), S>,
                  "[while_loop] the body gives the loop variables of the next turn, in the type in "
                  "which they were given");
    const std::string settings = detail::settings_of(detail::emptied(loop_vars));
    const auto out = detail::run_while(
        [&](const std::vector<Tensor>& t) -> Tensor {
          return detail::call_with(test, with_tensors(loop_vars, t));
        },
        [&](const std::vector<Tensor>& t) {
          const S next = detail::call_with(body, with_tensors(loop_vars, t));
          detail::check_structure(settings, next);
          return tensors_of(next);
        },
        tensors_of(loop_vars), options.maximum_iterations);
    return with_tensors(std::move(loop_vars), out);
  }
}

struct ScanOptions {
  bool reverse = false;  // from the last row to the first
};

// std::pair(carry, y) = f(carry, x) for every row x of a structure of tensors, from the first to
// the last: gives the last carry and all y as stacks. Inside a traced function this is a loop, also
// if the number of rows is known.
template <class F, class S, class X>
auto scan(F f, S init, const X& xs, ScanOptions options = {}) {
  static_assert(std::is_invocable_v<F&, const S&, const X&>,
                "[scan] the function takes the carry and one row of xs, as `const` references");
  using R = std::invoke_result_t<F&, const S&, const X&>;
  static_assert(detail::is_pair<R>, "[scan] the function gives std::pair(carry, row of results)");
  using Y = typename R::second_type;
  detail::require_loop_variables<S>();
  detail::require_structure<X>();
  detail::require_loop_variables<Y>();
  const std::string settings = detail::settings_of(detail::emptied(init));
  const std::size_t carries = tensors_of(init).size();
  const std::vector<Tensor> stacks = tensors_of(xs);
  std::optional<Y> made;
  const std::vector<Tensor> out = detail::run_scan(
      [&](const std::vector<Tensor>& t) {
        const auto rows = t.begin() + static_cast<std::ptrdiff_t>(carries);
        auto [next, y] =
            f(with_tensors(init, {t.begin(), rows}), with_tensors(xs, {rows, t.end()}));
        detail::check_structure(settings, next);
        std::vector<Tensor> tensors = tensors_of(next);
        for (const Tensor& row : tensors_of(y)) tensors.push_back(row);
        made = std::move(y);
        return tensors;
      },
      tensors_of(init), stacks, detail::rows_of(stacks), options.reverse);
  const auto rows = out.begin() + static_cast<std::ptrdiff_t>(carries);
  return std::pair(with_tensors(std::move(init), {out.begin(), rows}),
                   with_tensors(std::move(*made), {rows, out.end()}));
}

}  // namespace gradus
