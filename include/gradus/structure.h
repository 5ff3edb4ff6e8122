// Structures: what functions that transform functions (function, grad, vmap, cond, while_loop ...)
// take and give back.
//
// They must see every part of an argument. A tensor that they did not see would stay a constant of
// the program that was traced first; a number that they did not see would never change. So a
// structure is read to its last part, and what cannot be read does not compile:
//
//   values       Tensor and Gradient: what is differentiated, mapped, traced and carried by loops
//   settings     numbers, enums, texts, variables (which cell it is, not what is in it), pointers
//                to functions, and SharedPart below: they pass through unchanged, and a compiled
//                function is traced for each of them
//   containers   of structures: vectors, arrays, maps, pairs, tuples, optionals, variants
//   structs      of structures: plain ones (aggregates) are read by themselves; any other class
//                says of what it consists, as all layers do:
//                  auto gradus_parts() { return std::tie(kernel, bias, rate); }
//                What a class inherits does not count, because its base does not know its fields:
//                  return std::tuple_cat(Base::gradus_parts(), std::tie(n));
//
// What a branch or an iteration gives is decided when the program runs. So the results of cond and
// the variables of loops hold values only: a setting there could not follow the decision.
#pragma once
#include <array>
#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "gradus/gradient.h"
#include "gradus/variable.h"

namespace gradus {

// A part of a class that is known by where it is: copies that share it are the same.
struct SharedPart {
  std::shared_ptr<const void> of;
};

namespace detail {

template <class S>
concept Value = std::is_same_v<S, Tensor> || std::is_same_v<S, Gradient>;
template <class S>
concept SaysItsParts = requires(S& s) {
  s.gradus_parts();
};
// A class is a text if it converts to one and back; another one may hold more than it says.
template <class S>
concept Words =
    std::is_convertible_v<const S&, std::string> && !Value<S> && !SaysItsParts<S> &&
    (!std::is_class_v<S> || (std::is_constructible_v<S, std::string> && !std::is_aggregate_v<S>));
template <class S>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<std::complex<T>> : std::true_type {};
template <class S>
concept SettingType = std::is_arithmetic_v<S> || std::is_same_v<S, Size> || std::is_enum_v<S> ||
    IsComplex<S>::value || Words<S> || std::is_same_v<S, Variable> ||
    std::is_same_v<S, SharedPart> || std::is_null_pointer_v<S> ||
    std::is_same_v<S, std::monostate> ||
    (std::is_pointer_v<S>&& std::is_function_v<std::remove_pointer_t<S>>);
template <class S>
concept Setting = SettingType<std::remove_const_t<S>>;
// Containers are templates, and Shape: a class that is derived from one may hold more.
template <class S>
struct IsContainer : std::is_same<S, Shape> {};
template <class S>
struct IsContainer<const S> : IsContainer<S> {};
template <template <class...> class C, class... A>
struct IsContainer<C<A...>> : std::true_type {};
template <class S>
concept MapLike = IsContainer<S>::value && requires {
  typename S::mapped_type;
};
template <class S>
concept TupleLike = requires {
  std::tuple_size<S>::value;
};
template <class S>
concept OptionalLike = IsContainer<S>::value && requires(S& s) {
  s.has_value();
  *s;
};
template <class S>
concept VariantLike = requires {
  std::variant_size<S>::value;
};
template <class S>
concept RangeLike = IsContainer<S>::value && requires(S& s) {
  s.begin() != s.end();
};

// Stands for any part of a struct, to find out how many there are.
template <class Whole>
struct AnyPart {
  template <class T>
  requires(!std::is_same_v<T, Whole>) operator T() const;
};
template <class S, std::size_t... I>
constexpr bool has_room_for(std::index_sequence<I...>) {
  return requires { S{(static_cast<void>(I), AnyPart<S>())...}; };
}
inline constexpr std::size_t kMostFields = 16;
// kMostFields + 1: too many.
template <class S, std::size_t N = kMostFields + 1>
constexpr std::size_t field_count() {
  if constexpr (N == 0 || has_room_for<S>(std::make_index_sequence<N>{})) {
    return N;
  } else {
    return field_count<S, N - 1>();
  }
}
template <class S>
constexpr bool is_plain_struct() {
  if constexpr (std::is_class_v<S> && std::is_aggregate_v<S>) {
    return field_count<S>() >= 1 && field_count<S>() <= kMostFields;
  } else {
    return false;
  }
}
template <class S>
concept PlainStruct = is_plain_struct<S>();

// The fields of a plain struct, by reference.
template <PlainStruct S>
auto fields_of(S& s) {
  constexpr std::size_t n = field_count<S>();
  if constexpr (n == 1) {
    auto& [a] = s;
    return std::tie(a);
  } else if constexpr (n == 2) {
    auto& [a, b] = s;
    return std::tie(a, b);
  } else if constexpr (n == 3) {
    auto& [a, b, c] = s;
    return std::tie(a, b, c);
  } else if constexpr (n == 4) {
    auto& [a, b, c, d] = s;
    return std::tie(a, b, c, d);
  } else if constexpr (n == 5) {
    auto& [a, b, c, d, e] = s;
    return std::tie(a, b, c, d, e);
  } else if constexpr (n == 6) {
    auto& [a, b, c, d, e, f] = s;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (n == 7) {
    auto& [a, b, c, d, e, f, g] = s;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (n == 8) {
    auto& [a, b, c, d, e, f, g, h] = s;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (n == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = s;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (n == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (n == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (n == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (n == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (n == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (n == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  }
}

// Calls f with each part of what is neither a value nor a setting.
template <class S, class F>
void for_each_part(S& s, F&& f) {
  if constexpr (SaysItsParts<S>) {
    auto parts = s.gradus_parts();
    std::apply([&](auto&... part) { (f(part), ...); }, parts);
  } else if constexpr (MapLike<S>) {
    for (auto& [key, part] : s) f(part);
  } else if constexpr (TupleLike<S>) {
    std::apply([&](auto&... part) { (f(part), ...); }, s);
  } else if constexpr (VariantLike<S>) {
    std::visit([&](auto& part) { f(part); }, s);
  } else if constexpr (OptionalLike<S>) {
    if (s.has_value()) f(*s);
  } else if constexpr (std::is_same_v<S, std::vector<bool>>) {
    for (bool part : s) f(part);
  } else if constexpr (RangeLike<S>) {
    for (auto& part : s) f(part);
  } else if constexpr (!std::is_empty_v<S>) {
    auto parts = fields_of(s);
    std::apply([&](auto&... part) { (f(part), ...); }, parts);
  }
}

// What a type holds, as far as the type says.
struct Contents {
  bool values = false, settings = false, unreadable = false;
  bool varies = false;  // how many parts there are, and their names, are known when it runs
  constexpr Contents& operator+=(const Contents& other) {
    values |= other.values;
    settings |= other.settings;
    unreadable |= other.unreadable;
    varies |= other.varies;
    return *this;
  }
};
constexpr Contents varying(Contents c) {
  c.varies = true;
  return c;
}
template <class S, class... Around>
constexpr Contents contents_of();
template <class... Parts, class... Around>
constexpr Contents contents_of_all(std::tuple<Parts...>*, std::tuple<Around...>*) {
  Contents all;
  ((all += contents_of<std::remove_reference_t<Parts>, Around...>()), ...);
  return all;
}
template <class V>
struct Alternatives;
template <class... A>
struct Alternatives<std::variant<A...>> {
  using Tuple = std::tuple<A...>;
};
template <class P>
struct AsTuple;
template <class... A>
struct AsTuple<std::tuple<A...>> {
  using Type = std::tuple<A...>;
};
template <class A, class B>
struct AsTuple<std::pair<A, B>> {
  using Type = std::tuple<A, B>;
};
template <class A, std::size_t N>
struct AsTuple<std::array<A, N>> {
  using Type = std::tuple<A>;
};

// Whose gradus_parts it is: a class that only inherits one has not said all of its parts.
template <class C, class R>
C* owner_of(R (C::*)());
template <class C, class R>
C* owner_of(R (C::*)() const);
template <class S>
constexpr bool says_own_parts() {
  if constexpr (requires { owner_of(&S::gradus_parts); }) {
    return std::is_same_v<decltype(owner_of(&S::gradus_parts)), S*>;
  } else {
    return true;  // it has two, one of them const
  }
}
// Whether a tensor is in a copy: one that is put there would not reach the class.
template <class... Parts, class... Around>
constexpr bool copies_values(std::tuple<Parts...>*, std::tuple<Around...>*) {
  return ((!std::is_reference_v<Parts> && contents_of<Parts, Around...>().values) || ...);
}

template <class S, class... Around>
constexpr Contents contents_of() {
  using Path = std::tuple<Around..., S>;
  if constexpr ((std::is_same_v<S, Around> || ...)) {  // NOLINT(bugprone-branch-clone)
    return {};                                         // a tree: its parts are looked at already
  } else if constexpr (std::is_const_v<S>) {
    Contents all = contents_of<std::remove_const_t<S>, Around...>();
    all.unreadable |= all.values;  // a tensor that cannot be replaced
    return all;
  } else if constexpr (Value<S>) {
    return {.values = true};
  } else if constexpr (Setting<S>) {  // NOLINT(bugprone-branch-clone)
    return {.settings = true};
  } else if constexpr (SaysItsParts<S>) {
    using Parts = typename AsTuple<decltype(std::declval<S&>().gradus_parts())>::Type;
    constexpr auto* parts = static_cast<Parts*>(nullptr);
    constexpr auto* path = static_cast<Path*>(nullptr);
    Contents all = contents_of_all(parts, path);
    all.unreadable |= !says_own_parts<S>() || copies_values(parts, path);
    return all;
  } else if constexpr (MapLike<S>) {
    return varying(contents_of<typename S::mapped_type, Around..., S>());
  } else if constexpr (requires { typename AsTuple<S>::Type; }) {
    return contents_of_all(static_cast<typename AsTuple<S>::Type*>(nullptr),
                           static_cast<Path*>(nullptr));
  } else if constexpr (VariantLike<S>) {
    return varying(contents_of_all(static_cast<typename Alternatives<S>::Tuple*>(nullptr),
                                   static_cast<Path*>(nullptr)));
  } else if constexpr (std::is_same_v<S, std::vector<bool>>) {
    return {.settings = true};
  } else if constexpr (OptionalLike<S>) {
    using Element = std::remove_reference_t<decltype(*std::declval<S&>())>;
    return varying(contents_of<Element, Around..., S>());
  } else if constexpr (RangeLike<S>) {
    using Element = std::remove_reference_t<decltype(*std::declval<S&>().begin())>;
    return varying(contents_of<Element, Around..., S>());
  } else if constexpr (std::is_empty_v<S>) {
    return {};
  } else if constexpr (PlainStruct<S>) {
    using Fields = decltype(fields_of(std::declval<S&>()));
    return contents_of_all(static_cast<Fields*>(nullptr), static_cast<Path*>(nullptr));
  } else {
    return {.unreadable = true};
  }
}

}  // namespace detail

// Whether every part of a type can be read, and whether all of them are tensors or gradients.
template <class S>
inline constexpr bool is_structure = !detail::contents_of<std::remove_cvref_t<S>>().unreadable;
template <class S>
inline constexpr bool holds_values_only =
    is_structure<S> && !detail::contents_of<std::remove_cvref_t<S>>().settings;

namespace detail {

template <class S>
constexpr void require_structure() {
  static_assert(
      is_structure<S>,
      "[gradus] this type cannot be read, so a tensor or number in it would be missed: make it a "
      "plain struct of up to 16 fields, give it `auto gradus_parts() { return std::tie(...); }` "
      "(in the class itself, and no copies of tensors), or capture it instead of passing it");
}
// One sentence instead of pages about std::invoke. False: the sentence is said, so leave out the
// call.
template <class F, class... A>
constexpr bool require_call() {
  static_assert(std::is_invocable_v<F, A...>,
                "[gradus] the function cannot be called with these arguments: it must take as many "
                "as are given, numbers as `const gd::Tensor&`, and nothing by a reference that it "
                "could change");
  return std::is_invocable_v<F, A...>;
}
template <class S>
constexpr void require_values() {
  require_structure<S>();
  static_assert(contents_of<std::remove_cvref_t<S>>().values,
                "[gradus] there is no tensor in this argument, so there is nothing to "
                "differentiate: numbers become gd::Tensor, variables are watched by a tape");
}
}  // namespace detail

// Calls f with every Tensor& and Gradient&, in a fixed order.
template <class S, class F>
void for_each_leaf(S& structure, F&& f) {
  if constexpr (detail::Value<S>) {
    f(structure);
  } else if constexpr (!detail::Setting<S>) {
    detail::require_structure<S>();
    if constexpr (is_structure<S>)
      detail::for_each_part(structure, [&](auto& part) { for_each_leaf(part, f); });
  }
}

// Calls f(Tensor&) for every tensor, undefined ones included; a gradient counts as the tensor that
// it is, or as an undefined one.
template <class S, class F>
void for_each_tensor(S& structure, F&& f) {
  for_each_leaf(structure, [&]<class Leaf>(Leaf& leaf) {
    if constexpr (std::is_same_v<Leaf, Gradient>) {
      Tensor whole = leaf.is_none() ? Tensor() : leaf.tensor();
      f(whole);
      leaf = Gradient(std::move(whole));
    } else {
      f(leaf);
    }
  });
}

template <class S>
std::vector<Tensor> tensors_of(const S& structure) {
  std::vector<Tensor> tensors;
  S copy = structure;
  for_each_tensor(copy, [&](Tensor& t) { tensors.push_back(t); });
  return tensors;
}

// The structure with its tensors replaced, in the order of tensors_of.
template <class S>
S with_tensors(S structure, const std::vector<Tensor>& tensors) {
  std::size_t next = 0;
  for_each_tensor(structure, [&](Tensor& t) { t = tensors[next++]; });
  return structure;
}

namespace detail {

// The structure without its tensors.
template <class S>
S emptied(S structure) {
  for_each_tensor(structure, [](Tensor& t) { t = Tensor(); });
  return structure;
}

}  // namespace detail

}  // namespace gradus
