#include "graph/host_number.h"

#include <cstring>
#include <sstream>
#include <utility>

#include "base/check.h"
#include "gradus/in.h"
#include "graph/context.h"
#include "graph/dispatch.h"
#include "graph/dynamic_size.h"
#include "graph/elementwise.h"
#include "graph/graph.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

struct NumberAttrs {
  DType dtype = float32;
  static auto fields() { return attr_fields(attr("dtype", &NumberAttrs::dtype)); }
};

const Op number_op =
    internal({.name = "number",
              .doc = "A host number in the dtype of what it met.",
              .dtypes = kAnyDType,
              .attrs = &attr_type<NumberAttrs>(),
              .infer =
                  [](const Call& c, Avals& out) {
                    out.push_back({c.get<NumberAttrs>().dtype, c.shape(0)});
                  },
              .kernel =
                  [](const KernelCall& c) {
                    static const auto* copy = elementwise_rule([](Expr x) { return x; }).release();
                    copy->run(c.in, c.out[0]);
                  },
              .expression = [](const Call& c, std::span<const Expr> in) -> std::vector<Expr> {
                return {convert(in[0], expr::type_of(c.get<NumberAttrs>().dtype))};
              }},
             "a host number is not watched by anyone", Where::traced);

Tensor convert_number(const Tensor& number, DType to) {
  const NumberAttrs attrs{to};
  Tensor plain = make_alias(number);  // without the mark of a number
  return number_op({plain}, attrs);
}

std::int64_t integer_of(const TensorImpl& number) {
  return *static_cast<const std::int64_t*>(number.data);
}

// The integers that a dtype holds, as far as int64 goes; bool holds 0 and 1.
std::pair<std::int64_t, std::int64_t> range_of(DType dtype) {
  return visit_dtype(dtype, [](auto zero) -> std::pair<std::int64_t, std::int64_t> {
    using T = decltype(zero);
    using Wide = std::numeric_limits<std::int64_t>;
    if constexpr (std::is_integral_v<T> && sizeof(T) < 8) {
      return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    } else if constexpr (std::is_unsigned_v<T>) {
      return {0, Wide::max()};
    } else {
      return {Wide::min(), Wide::max()};
    }
  });
}

[[noreturn]] void fail_real(const char* op, const std::string& number, DType to) {
  fail<InvalidArgumentError>("[", op, "] cannot combine the real number", number,
                             " with a tensor of ", name_of(to),
                             "; cast the tensor to a float dtype first");
}

Tensor known_number(const char* op, const TensorImpl& number, DType to) {
  const bool real = number.dtype == float64;
  const double x =
      real ? *static_cast<const double*>(number.data) : static_cast<double>(integer_of(number));
  if (real && !is_differentiable(to)) {
    std::ostringstream text;
    text << " " << x;
    fail_real(op, text.str(), to);
  }
  if (!real) {
    const auto [least, most] = range_of(to);
    if (integer_of(number) < least || integer_of(number) > most) {
      fail<InvalidArgumentError>("[", op, "] got the number ", integer_of(number),
                                 " beside a tensor of ", name_of(to), "; expected one from ", least,
                                 " to ", most, "; cast the tensor to a wider dtype first");
    }
  }
  Tensor made = make_tensor(to, {});
  visit_dtype(to, [&](auto zero) {
    using T = decltype(zero);
    T value;
    if constexpr (is_complex(dtype_v<T>)) {
      value = T(static_cast<typename T::value_type>(x));
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(integer_of(number));
    } else if constexpr (sizeof(T) == 2) {
      value = T(static_cast<float>(x));
    } else {
      value = static_cast<T>(x);
    }
    std::memcpy(made.impl()->data, &value, sizeof value);
  });
  return made;
}

constinit thread_local NarrowedNumbers* narrowed = nullptr;

}  // namespace

DType dtype_alone(std::initializer_list<const Tensor*> numbers) {
  DType dtype = int32;
  for (const Tensor* t : numbers) {
    const TensorImpl& number = *t->impl();
    if (number.dtype == float64) return float32;
    const auto [least, most] = range_of(int32);
    if (number.kind == ValueKind::concrete &&
        (integer_of(number) < least || integer_of(number) > most))
      dtype = int64;
  }
  return dtype;
}

Tensor number_as(const char* op, const Tensor& number, DType to) {
  if (is_concrete(number)) return known_number(op, *number.impl(), to);
  // a number that a compiled function is given, or a size
  if (number.dtype() == float64 && !is_differentiable(to)) fail_real(op, "", to);
  NarrowedNumbers::note(number, to);
  return convert_number(number, to);
}

void give_dtypes(const Op& op, SmallVector<Tensor, 4>& held, SmallVector<const Tensor*, 8>& in) {
  const std::uint32_t masks = op.kind == Kind::elementwise ? op.elementwise->bool_inputs : 0;
  const Tensor* strong = nullptr;
  DType alone = int32;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (masks >> i & 1) continue;
    if (!in[i]->impl()->has(kWeak)) {
      if (!strong) strong = in[i];
    } else if (alone != float32) {
      const DType own = dtype_alone({in[i]});
      if (own != int32) alone = own;
    }
  }
  const DType dtype = strong ? strong->dtype() : alone;
  held.reserve(in.size());
  // A number that is an index, say, has nothing to do with the dtype of what it is an index of.
  const auto stands_alone = [&](std::size_t i) {
    return op.kind != Kind::elementwise && !has_position(op.info.differentiable, i) &&
           in[i]->dtype() == int64;
  };
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!in[i]->impl()->has(kWeak)) continue;
    const DType own = masks >> i & 1 ? bool_ : stands_alone(i) ? int64 : dtype;
    held.push_back(number_as(op.name(), *in[i], own));
    in[i] = &held.back();
  }
}

NarrowedNumbers::NarrowedNumbers(const Graph& graph)
    : graph_(graph), outer_(std::exchange(narrowed, this)) {}
NarrowedNumbers::~NarrowedNumbers() { narrowed = outer_; }

void NarrowedNumbers::note(const Tensor& number, DType to) {
  const TensorImpl& t = *number.impl();
  if (t.kind != ValueKind::traced || t.dtype != int64 || is_differentiable(to)) return;
  for (NarrowedNumbers* n = narrowed; n; n = n->outer_) {
    if (t.extra()->graph.get() != &n->graph_) continue;
    const auto [least, most] = range_of(to);
    n->ranges.push_back({t.extra()->value, least, most, to});
  }
}

namespace detail {

Tensor weak_number(double x) { return make_weak(x); }
Tensor weak_number(std::int64_t x) { return make_weak(x); }
Tensor weak_number(Size size) {
  if (size.is_known()) return make_weak(static_cast<std::int64_t>(size));
  Tensor traced = traced_size(size);
  traced.impl()->set(kWeak);
  return traced;
}

}  // namespace detail
}  // namespace gradus
