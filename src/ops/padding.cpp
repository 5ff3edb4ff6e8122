// Borders around tensors.
#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "kernels/movement.h"
#include "ops/checks.h"
#include "ops/moves.h"
#include "ops/records.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using kernels::Mirror;

struct BorderAttrs {
  Ints before, after;
  static auto fields() {
    return attr_fields(attr("before", &BorderAttrs::before), attr("after", &BorderAttrs::after));
  }
};

struct MirrorAttrs {
  Ints before, after;
  Mirror mirror = Mirror::reflect;
  static auto fields() {
    return attr_fields(attr("before", &MirrorAttrs::before), attr("after", &MirrorAttrs::after),
                       attr("mirror", &MirrorAttrs::mirror));
  }
};

template <class Attrs>
Shape padded(const Shape& shape, const Attrs& p) {
  Shape out = shape;
  for (int i = 0; i < shape.rank(); ++i) out[i] = shape[i] + p.before[i] + p.after[i];
  return out;
}

template <class Attrs>
Attrs with_batch_axis(const Attrs& attrs) {
  Attrs result = attrs;
  result.before.insert(0, 0);
  result.after.insert(0, 0);
  return result;
}

void check_mirror(const Call& c, const MirrorAttrs& p) {
  check_numbers(c, "the border before", p.before, c.shape(0).rank(), 0);
  check_numbers(c, "the border after", p.after, c.shape(0).rank(), 0);
  if (p.mirror != Mirror::reflect && p.mirror != Mirror::symmetric) {
    fail<InvalidArgumentError>("[", c.op.name(),
                               "] the border is mirrored by reflect or symmetric");
  }
}

void infer_mirror_pad(const Call& c, Avals& out) {
  const auto& p = c.get<MirrorAttrs>();
  check_mirror(c, p);
  const int edge = p.mirror == Mirror::reflect ? 1 : 0;
  for (int i = 0; i < c.shape(0).rank(); ++i) {
    const Size n = c.shape(0)[i];
    for (const Size border : {p.before[i], p.after[i]}) {
      if (is_same(border, 0) || is_at_most(border, n - edge) || border == 0) continue;
      fail<InvalidArgumentError>("[pad] axis ", i, " of shape ", c.shape(0),
                                 " cannot be padded by ", border, ": there are only ",
                                 std::max<Size>(0, n - edge), " elements to mirror");
    }
  }
  out.push_back({c.in[0].dtype, padded(c.shape(0), p)});
}

std::vector<Sample> mirror_samples() {
  return {sample<MirrorAttrs>({{{4, 3}}}, {{2, 0}, {3, 1}, Mirror::reflect}),
          sample<MirrorAttrs>({{{2, 3}}}, {{2, 0}, {1, 3}, Mirror::symmetric}),
          sample<MirrorAttrs>({{{0, 2}}}, {{0, 1}, {0, 0}, Mirror::symmetric}),
          sample<MirrorAttrs>({{{}}}, {{}, {}, Mirror::reflect})};
}

// Where the border is.
Tensor border_of(const Shape& shape, const BorderAttrs& attrs);

}  // namespace

const Op pad_constant_op = general(
    {.name = "pad_constant",
     .doc = "A constant before and after along every axis.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<BorderAttrs>(),
     .inputs = 2,
     .infer =
         [](const Call& c, Avals& out) {
           if (c.in[1].dtype != c.in[0].dtype || c.shape(1).rank() != 0) {
             fail<InvalidArgumentError>("[pad] got constant_values of shape ", c.shape(1),
                                        " and dtype ", name_of(c.in[1].dtype),
                                        "; a scalar of dtype ", name_of(c.in[0].dtype),
                                        " was expected");
           }
           out.push_back({c.in[0].dtype, padded(c.shape(0), c.get<BorderAttrs>())});
         },
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<BorderAttrs>();
           kernels::pad(size_of(c.in[0].dtype), c.in[0].data, c.shape(0).numbers().data(),
                        c.shape(0).rank(), p.before.numbers().data(), p.after.numbers().data(),
                        c.in[1].data, c.out[0].data);
         },
     .batch =
         [](const BatchCall& c) {
           if (c.is_batched(1)) return batch_loop(c);  // another constant for each example
           const BorderAttrs attrs = with_batch_axis(c.get<BorderAttrs>());
           return c.op.run(c.in, &attrs);
         },
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{0, 0};
         },
     .samples =
         [] {
           return std::vector<Sample>{sample<BorderAttrs>({{{2, 3}}, {{}}}, {{1, 0}, {0, 2}}),
                                      sample<BorderAttrs>({{{0}}, {{}}}, {{1}, {1}})};
         },
     .like = "numpy.pad"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      const auto& p = s.get<BorderAttrs>();
      if (t[0].defined()) out[0] = pad_zeros(t[0], p.before, p.after);
      if (!t[1].defined()) return;
      const Tensor border = where(border_of(s.shape(0), p), t[1], 0);
      out[0] = out[0].defined() ? out[0] + border : border;
    });

extern const Op fold_mirror_op;

const Op mirror_pad_op = linear(
    {.name = "mirror_pad",
     .doc = "The tensor mirrored before and after along every axis.",
     .dtypes = kNumeric,
     .attrs = &attr_type<MirrorAttrs>(),
     .infer = infer_mirror_pad,
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<MirrorAttrs>();
           kernels::mirror_pad(p.mirror, size_of(c.in[0].dtype), c.in[0].data,
                               c.shape(0).numbers().data(), c.shape(0).rank(),
                               p.before.numbers().data(), p.after.numbers().data(), c.out[0].data);
         },
     .batch =
         [](const BatchCall& c) {
           const MirrorAttrs attrs = with_batch_axis(c.get<MirrorAttrs>());
           return c.op.run(c.in, &attrs);
         },
     .samples = mirror_samples,
     .like = "numpy.pad"},
    [](const Site& s, int, const Tensor& ct) -> Cotangent {
      return fold_mirror_op({ct}, s.get<MirrorAttrs>());
    });

const Op fold_mirror_op = linear(
    {.name = "fold_mirror",
     .doc = "Adds each element of a mirrored border to the one that it mirrors.",
     .dtypes = kFloating | kComplex,
     .attrs = &attr_type<MirrorAttrs>(),
     .infer =
         [](const Call& c, Avals& out) {
           const auto& p = c.get<MirrorAttrs>();
           check_mirror(c, p);
           Shape shape = c.shape(0);
           const int edge = p.mirror == Mirror::reflect ? 1 : 0;
           for (int i = 0; i < shape.rank(); ++i) {
             const Size n = shape[i] - p.before[i] - p.after[i];
             if (n.is_known() &&
                 (n < 0 || std::max(p.before[i], p.after[i]) > std::max<Size>(0, n - edge))) {
               fail<InvalidArgumentError>("[fold_mirror] a tensor of shape ", shape,
                                          " has no mirrored borders of ", p.before, " and ",
                                          p.after);
             }
             shape[i] = n;
           }
           out.push_back({c.in[0].dtype, shape});
         },
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<MirrorAttrs>();
           kernels::mirror_pad_transpose(p.mirror, c.in[0].dtype, c.in[0].data,
                                         c.out[0].shape->numbers().data(), c.out[0].shape->rank(),
                                         p.before.numbers().data(), p.after.numbers().data(),
                                         c.out[0].data);
         },
     .batch =
         [](const BatchCall& c) {
           const MirrorAttrs attrs = with_batch_axis(c.get<MirrorAttrs>());
           return c.op.run(c.in, &attrs);
         },
     .samples =
         [] {
           return std::vector<Sample>{
               sample<MirrorAttrs>({{{9, 4}}}, {{2, 0}, {3, 1}, Mirror::reflect}),
               sample<MirrorAttrs>({{{5}}}, {{1}, {2}, Mirror::symmetric})};
         }},
    [](const Site& s, int, const Tensor& ct) -> Cotangent {
      return mirror_pad_op({ct}, s.get<MirrorAttrs>());
    });

namespace {

Tensor border_of(const Shape& shape, const BorderAttrs& attrs) {
  return pad_constant_op({zeros(shape, bool_), Tensor(true)}, attrs);
}

bool is_plain_zero(const Tensor& t) {
  return is_concrete(t) && t.impl()->has(kWeak) && t.item<double>() == 0;
}

}  // namespace

Tensor pad(In x, const Paddings& paddings, PadMode mode, In constant_values) {
  if (static_cast<int>(paddings.size()) != x->rank()) {
    fail<InvalidArgumentError>("[pad] got ", paddings.size(), " pairs for a tensor of shape ",
                               x->shape(), "; give one pair (before, after) per axis");
  }
  Ints before, after;
  for (const auto& [first, last] : paddings) {
    if (first < 0 || last < 0) {
      fail<InvalidArgumentError>("[pad] paddings (", first, ", ", last,
                                 ") are negative; use slice to cut");
    }
    before.push_back(first);
    after.push_back(last);
  }
  if (mode != PadMode::constant) {
    const Mirror mirror = mode == PadMode::reflect ? Mirror::reflect : Mirror::symmetric;
    return mirror_pad_op({x}, MirrorAttrs{before, after, mirror});
  }
  if (is_plain_zero(constant_values)) return pad_zeros(x, before, after);
  return pad_constant_op({x, constant_values}, BorderAttrs{before, after});
}

}  // namespace gradus
