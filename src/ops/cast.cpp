#include "base/check.h"
#include "gradus/elementwise.h"
#include "graph/batch.h"
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

const Op cast_op = linear(
    {.name = "cast",
     .doc = "The value with another dtype; float to integer truncates, anything to bool is != 0.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<CastAttrs>(),
     .infer =
         [](const Call& c, Avals& out) {
           out.push_back({c.get<CastAttrs>().dtype, c.shape(0)});
         },
     .kernel = [](const KernelCall& c) { copy_rule().run(c.in, c.out[0]); },
     .batch = batch_leading,
     .samples =
         [] {
           return std::vector<Sample>{sample<CastAttrs>({{{2, 3}}}, {float64})};
         },
     .like = "numpy.ndarray.astype"},
    [](const Site& s, int, const Tensor& ct) -> Cotangent { return cast(ct, s.args[0].dtype); });

Tensor cast(In x, DType dtype) {
  if (x->dtype() == dtype && !x->impl()->has(kWeak)) return x;
  return cast_op({x}, CastAttrs{dtype});
}

}  // namespace gradus
