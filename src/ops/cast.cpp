#include <cstring>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "kernels/half.h"
#include "ops/records.h"
#include "tensor/tensor_impl.h"

namespace gradus {

struct CastAttrs {
  DType dtype = float32;
  static auto fields() { return attr_fields(attr("dtype", &CastAttrs::dtype)); }
};

const ElementwiseRule& copy_rule() {
  static const auto* rule = elementwise_rule([](Expr x) { return x; }).release();
  return *rule;
}

namespace {

void run_cast(const KernelCall& c) {
  const View &from = c.in[0], &to = c.out[0];
  if (from.dtype == float32 && (to.dtype == float16 || to.dtype == bfloat16))
    return kernels::narrow_in_parallel(to.dtype, to.data, from.as<float>(), from.count());
  copy_rule().run(c.in, to);
}

}  // namespace

const Op cast_op = linear(
    {.name = "cast",
     .doc = "The value with another dtype; float to integer truncates, anything to bool is != 0.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<CastAttrs>(),
     .infer =
         [](const Call& c, Avals& out) {
           out.push_back({c.get<CastAttrs>().dtype, c.shape(0)});
         },
     .kernel = run_cast,
     .batch = batch_leading,
     .expression = [](const Call& c, std::span<const Expr> in) -> std::vector<Expr> {
       return {convert(in[0], expr::type_of(c.get<CastAttrs>().dtype))};
     },
     .samples =
         [] {
           return std::vector<Sample>{sample<CastAttrs>({{{2, 3}}}, {float64})};
         },
     .like = "numpy.ndarray.astype"},
    [](const Site& s, int, const Tensor& ct) -> Cotangent { return cast(ct, s.args[0].dtype); });

Tensor cast(In x, DType dtype) {
  // A plain number is the double or int64 that was given, not what it is where it meets no tensor.
  if (x->impl()->has(kWeak)) return cast(make_alias(x), dtype);
  if (x->dtype() == dtype) return x;
  return cast_op({x}, CastAttrs{dtype});
}

const Op bitcast_op = not_differentiable(
    {.name = "bitcast",
     .doc = "The bits of each element as another dtype.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<CastAttrs>(),
     .infer =
         [](const Call& c, Avals& out) {
           const DType to = c.get<CastAttrs>().dtype;
           const std::size_t from_size = size_of(c.in[0].dtype), to_size = size_of(to);
           Shape shape = c.shape(0);
           if (from_size > to_size) {
             shape.push_back(static_cast<std::int64_t>(from_size / to_size));
           } else if (from_size < to_size) {
             const auto parts = static_cast<std::int64_t>(to_size / from_size);
             if (shape.rank() == 0 || shape.back() != parts) {
               fail<InvalidArgumentError>("[bitcast] a ", name_of(c.in[0].dtype),
                                          " tensor of shape ", shape, " cannot become ",
                                          name_of(to), "; its last axis must have size ", parts);
             }
             shape.erase(shape.rank() - 1);
           }
           out.push_back({to, shape});
         },
     .kernel =
         [](const KernelCall& c) {
           if (const std::int64_t n = c.in[0].count()) {
             std::memcpy(c.out[0].data, c.in[0].data,
                         static_cast<std::size_t>(n) * size_of(c.in[0].dtype));
           }
         },
     .batch = batch_leading,
     .samples =
         [] {
           return std::vector<Sample>{sample<CastAttrs>({{{2, 3}}}, {uint8}),
                                      sample<CastAttrs>({{{0}}}, {uint8})};
         },
     .like = "numpy.ndarray.view"},
    "bits are not numbers");

Tensor bitcast(In x, DType dtype) {
  if (x->dtype() == bool_ || dtype == bool_) {
    fail<InvalidArgumentError>("[bitcast] bool has no bits to share; cast it to uint8 first");
  }
  return bitcast_op({x}, CastAttrs{dtype});
}

}  // namespace gradus
