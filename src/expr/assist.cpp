#include "expr/assist.h"

#include <cmath>
#include <utility>

#include "base/check.h"
#include "expr/zeta.h"

namespace gradus::expr {
namespace {

// float32 is computed in float64 and rounded.
template <Assistant kF, class T>
T value(T x, T second) {
  const double wide = x;
  if constexpr (kF == Assistant::sin)
    return static_cast<T>(std::sin(wide));
  else if constexpr (kF == Assistant::cos)
    return static_cast<T>(std::cos(wide));
  else if constexpr (kF == Assistant::tan)
    return static_cast<T>(std::tan(wide));
  else if constexpr (kF == Assistant::rem)
    return std::fmod(x, second);
  else
    return static_cast<T>(
        zeta_at(static_cast<int>(kF) - static_cast<int>(Assistant::zeta), wide, second));
}

template <Assistant kF, class T>
void replace_nans(const void* x, const void* second, void* y, int n) {
  const T* from = static_cast<const T*>(x);
  const T* by = static_cast<const T*>(second);
  T* to = static_cast<T*>(y);
  for (int i = 0; i < n; ++i)
    if (to[i] != to[i] && from[i] == from[i]) to[i] = value<kF>(from[i], by[i]);
}

template <Assistant kF>
AssistFn pick_type(Type type) {
  return type == Type::f64 ? replace_nans<kF, double> : replace_nans<kF, float>;
}

template <std::size_t... I>
AssistFn find(std::size_t f, Type type, std::index_sequence<I...>) {
  constexpr AssistFn (*kAll[])(Type) = {pick_type<static_cast<Assistant>(I)>...};
  return kAll[f](type);
}

}  // namespace

AssistFn assist_fn(Assistant f, Type type) {
  return find(static_cast<std::size_t>(f), type, std::make_index_sequence<kAssistants>());
}

Expr assist(Assistant f, Expr y, Expr x, Expr second) {
  GRADUS_ASSERT(is_float(y.type()) && x.type() == y.type() && second.type() == y.type());
  return y.builder().emit({.code = Code::assist,
                           .type = y.type(),
                           .a = y.id(),
                           .b = x.id(),
                           .c = second.id(),
                           .bits = static_cast<std::uint64_t>(f)});
}

}  // namespace gradus::expr
