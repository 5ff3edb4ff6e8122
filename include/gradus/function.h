// Functions that are traced once and compiled.
//
//   auto step = gd::function([&](const gd::Tensor& x, const gd::Tensor& y) {
//     gd::GradientTape tape;
//     auto loss = gd::keras::sparse_categorical_crossentropy(y, model(x));
//     adam.minimize(tape, loss, variables);
//     return loss;
//   });
//   auto loss = step(x, y);
//
// The first call runs the function on names instead of numbers and compiles what it did, forward,
// backward and update, into one program; later calls run the program. Variables are read and
// updated in place, random numbers are new at each call. Arguments are tensors, numbers, variables,
// layers, structs and containers of them (gradus/structure.h). Numbers are inputs too, so other
// values cost nothing; inside of structs, as variables are, they are settings: others make a trace
// of their own. A call with other sizes makes one more trace, in which the sizes that changed are
// symbols: from then on every size runs the same program.
//
// What the function does besides computing with tensors (printing, counting) happens only while it
// is traced; a variable that it makes is made then, once. A tensor that it captures is a constant.
// Numbers among its parameters are tensors inside it: declare them `const gd::Tensor&`. A function
// that computes with sizes in plain C++ (n - 1, loops, conditions) is traced for each of them.
// Called inside another function, under a tape or in vmap, it behaves as the plain function does.
#pragma once
#include <any>
#include <functional>
#include <memory>
#include <string>

#include "gradus/estimate.h"
#include "gradus/in.h"
#include "gradus/saved_function.h"
#include "gradus/structure_key.h"
#include "gradus/variable.h"

namespace gradus {

struct FunctionOptions {
  std::string name = "function";
  // At most this many bytes of temporaries (estimate() says how many there are); 0: as many as it
  // takes. Where they do not suffice, values are computed again instead of kept, at the sizes of
  // the call that is traced; the results have the same bits. If that is not enough either, the
  // program has the least that was found, and explain() says how much that is.
  std::int64_t memory_limit = 0;
  std::vector<std::string> skip_passes = {};  // for finding out which pass does what; see explain()
};

namespace detail {

// The part of a compiled function that does not depend on its C++ types.
class FunctionCore {
 public:
  explicit FunctionCore(FunctionOptions options);
  ~FunctionCore();

  // What the user's function does to a flat list of arguments: its result's tensors, the structure
  // that these go into, and what that is besides them (gradus/structure_key.h).
  struct Made {
    std::vector<Tensor> tensors;
    std::any structure = {};
    std::string settings = {};
  };
  using Body = std::function<Made(const std::vector<Tensor>&)>;
  struct Results {
    std::vector<Tensor> tensors;
    std::shared_ptr<const std::any> structure;
  };
  // `key` is what the arguments are besides their tensors: another one is traced for itself.
  Results call(std::vector<Tensor> arguments, const Body& body, const std::string& key = {});
  // Traces without a call, for arguments of these kinds; a size of -1 is any size. Of first axes
  // all these sizes are one, the batch, unless they may differ.
  struct Expected {
    DType dtype;
    Shape shape;
  };
  void prepare(const std::vector<Expected>& arguments, const Body& body,
               bool batches_differ = false);
  std::string explain() const;
  std::string text(bool optimised) const;
  std::string dot(bool optimised) const;
  std::string html(bool optimised) const;
  std::string report() const;
  Estimate estimate(const std::vector<Tensor>& arguments, const Body& body,
                    const std::string& key = {});
  int trace_count() const;
  SavedFunction saved() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Numbers become tensors that take the dtype of what they meet.
template <class T>
decltype(auto) as_argument(const T& x) {
  if constexpr (std::is_same_v<T, bool>) {
    return Tensor(x);
  } else if constexpr (std::is_same_v<T, Size>) {
    return weak_number(x);
  } else if constexpr (std::is_arithmetic_v<T>) {
    using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
    return weak_number(static_cast<Wide>(x));
  } else {
    return (x);
  }
}

// An undefined tensor inside a structure is a part of what the structure is, not an input.
template <class S>
void add_inputs(std::vector<Tensor>& in, const S& argument) {
  if constexpr (std::is_same_v<S, Tensor>) {
    in.push_back(argument);
  } else if constexpr (!Setting<S>) {
    S copy = argument;
    for_each_tensor(copy, [&](Tensor& t) {
      if (t.defined()) in.push_back(t);
    });
  }
}
template <class S>
void take_inputs(S& argument, const std::vector<Tensor>& in, std::size_t& next) {
  if constexpr (std::is_same_v<S, Tensor>) {
    argument = in[next++];
  } else if constexpr (!Setting<S>) {
    for_each_tensor(argument, [&](Tensor& t) {
      if (t.defined()) t = in[next++];
    });
  }
}

// One for each type of arguments.
template <class All>
inline constexpr char kTypeOfArguments = 0;

}  // namespace detail

template <class F>
class CompiledFunction {
 public:
  explicit CompiledFunction(F f, FunctionOptions options = {})
      : f_(std::move(f)), core_(std::make_shared<detail::FunctionCore>(std::move(options))) {}

  template <class... A>
  auto operator()(const A&... arguments) const {
    (detail::require_structure<A>(), ...);
    if constexpr (detail::require_call<const F&, const Argument<A>&...>()) {
      const auto all = all_of(arguments...);
      using Result = decltype(std::apply(f_, all));
      auto results = core_->call(inputs_of(all), body_of(all), key_of(all));
      if constexpr (std::is_same_v<Result, Tensor>) {
        return std::move(results.tensors[0]);
      } else if constexpr (!std::is_void_v<Result>) {
        detail::require_structure<Result>();
        using Kept = std::pair<Result, std::decay_t<decltype(all)>>;
        return with_tensors(std::any_cast<const Kept&>(*results.structure).first, results.tensors);
      }
    }
  }

  // How many traces there were, the reason for each, what each cost and what the compiler did.
  std::string explain() const { return core_->explain(); }
  int trace_count() const { return core_->trace_count(); }
  // The program of the last call, one line per op, and as a picture for Graphviz (`dot -Tsvg`);
  // as it was traced, or as it is run.
  std::string text(bool optimised = true) const { return core_->text(optimised); }
  std::string dot(bool optimised = true) const { return core_->dot(optimised); }
  // The same as a page for a browser: one file in which one can zoom, collapse and click.
  std::string html(bool optimised = true) const { return core_->html(optimised); }
  // What each pass of the compiler changed: ops, bytes, FLOPs and estimated time before and after.
  std::string report() const { return core_->report(); }
  // Operations, bytes, time and memory of a call with these arguments, which is not made.
  template <class... A>
  Estimate estimate(const A&... arguments) const {
    const auto all = all_of(arguments...);
    return core_->estimate(inputs_of(all), body_of(all), key_of(all));
  }
  // The program of the last call as data, to be saved (gradus/saved_function.h).
  SavedFunction saved() const { return core_->saved(); }

 private:
  template <class A>
  using Argument = std::decay_t<decltype(detail::as_argument(std::declval<const A&>()))>;

  template <class... A>
  static auto all_of(const A&... arguments) {
    return std::tuple<Argument<A>...>(detail::as_argument(arguments)...);
  }
  template <class... A>
  static std::vector<Tensor> inputs_of(const std::tuple<A...>& all) {
    std::vector<Tensor> in;
    std::apply([&](const auto&... argument) { (detail::add_inputs(in, argument), ...); }, all);
    return in;
  }
  template <class All>
  static All with_inputs(All all, const std::vector<Tensor>& in) {
    std::size_t next = 0;
    std::apply([&](auto&... argument) { (detail::take_inputs(argument, in, next), ...); }, all);
    return all;
  }
  template <class... A>
  static std::string key_of(const std::tuple<A...>& all) {
    std::string key;
    if constexpr ((std::is_same_v<A, Tensor> && ...)) {
      key.assign(sizeof...(A), 't');  // an undefined one is refused by name
    } else {
      key += 's';
      detail::add_bytes(key, &detail::kTypeOfArguments<std::tuple<A...>>);
      detail::add_to_key(key, all);
    }
    return key;
  }
  // What is kept with a trace holds the arguments too, without their tensors: as long as it lives,
  // nothing else can be where a variable or another identity of its key is.
  template <class All>
  detail::FunctionCore::Body body_of(const All& all) const {
    return [&](const std::vector<Tensor>& in) -> detail::FunctionCore::Made {
      using Result = decltype(std::apply(f_, all));
      if constexpr (std::is_void_v<Result>) {
        std::apply(f_, with_inputs(all, in));
        return {{}, detail::emptied(all)};
      } else {
        Result result = std::apply(f_, with_inputs(all, in));
        detail::make_sizes_known(result);
        std::string settings = detail::settings_of(result);
        std::vector<Tensor> tensors = tensors_of(result);
        return {std::move(tensors),
                std::pair(detail::emptied(std::move(result)), detail::emptied(all)),
                std::move(settings)};
      }
    };
  }

  F f_;
  std::shared_ptr<detail::FunctionCore> core_;
};

template <class F>
auto function(F f, FunctionOptions options = {}) {
  return CompiledFunction<F>(std::move(f), std::move(options));
}

}  // namespace gradus
