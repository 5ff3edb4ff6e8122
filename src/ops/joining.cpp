// Parts of a tensor along an axis, and back. A split is one op with many results, so that its
// gradient is one concat, however many parts there are.
#include "base/check.h"
#include "gradus/shaping.h"
#include "graph/symbols.h"
#include "kernels/movement.h"
#include "ops/axes.h"
#include "ops/checks.h"
#include "ops/moves.h"
#include "ops/records.h"

namespace gradus {
namespace {

struct SplitAttrs {
  int axis = 0;
  int parts = 0;
  Ints sizes;  // empty: all parts are equal
  static auto fields() {
    return attr_fields(attr("axis", &SplitAttrs::axis), attr("parts", &SplitAttrs::parts),
                       attr("sizes", &SplitAttrs::sizes));
  }
};

void infer_split(const Call& c, Avals& out) {
  const auto& p = c.get<SplitAttrs>();
  check_axis(c, p.axis, c.shape(0).rank());
  check_sizes(c, "the parts", p.sizes);
  const Size n = c.shape(0)[p.axis];
  Size total = 0;
  for (const Size size : p.sizes) total = total + size;
  const bool fits = p.parts >= 1 && p.parts <= 65535 &&
                    (p.sizes.rank() ? p.sizes.rank() == p.parts && sizes_agree(total, n)
                                    : !n.is_known() || n % p.parts == 0);
  if (!fits) {
    fail<InvalidArgumentError>(
        "[split] axis ", p.axis, " of shape ", c.shape(0), " cannot be cut into ", p.parts,
        " parts", p.sizes.rank() ? " of sizes " : "", p.sizes.rank() ? to_string(p.sizes) : "");
  }
  for (int i = 0; i < p.parts; ++i) {
    Shape shape = c.shape(0);
    shape[p.axis] = p.sizes.rank() ? p.sizes[i] : n / p.parts;
    out.push_back({c.in[0].dtype, shape});
  }
}

void split_kernel(const KernelCall& c) {
  const auto& p = c.get<SplitAttrs>();
  const Shape& shape = c.shape(0);
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < p.axis; ++i) outer *= shape[i];
  for (int i = p.axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  SmallVector<std::int64_t, 8> extents;
  SmallVector<void*, 8> parts;
  for (const View& v : c.out) {
    extents.push_back((*v.shape)[p.axis]);
    parts.push_back(v.data);
  }
  kernels::split(size_of(c.in[0].dtype), c.in[0].data, extents.data(), p.parts, outer, inner,
                 parts.data());
}

std::int64_t piece_of_split(const Call& c, int output) {
  const auto& p = c.get<SplitAttrs>();
  Shape size = c.shape(0);
  Ints begin = size;
  for (int i = 0; i < size.rank(); ++i) begin[i] = 0;
  const auto part = [&](int i) {
    return p.sizes.rank() ? p.sizes[i] : c.shape(0)[p.axis] / p.parts;
  };
  for (int i = 0; i < output; ++i) begin[p.axis] = begin[p.axis] + part(i);
  size[p.axis] = part(output);
  return piece_of_block(begin, size, c.shape(0));
}

}  // namespace

const Op split_op = general(
    {.name = "split",
     .doc = "Parts along an axis, equal ones or of given sizes.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<SplitAttrs>(),
     .outputs = -1,
     .infer = infer_split,
     .kernel = split_kernel,
     .batch =
         [](const BatchCall& c) {
           SplitAttrs attrs = c.get<SplitAttrs>();
           ++attrs.axis;
           return c.op.run(c.in, &attrs);
         },
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{0, 0};
         },
     .piece = piece_of_split,
     .samples =
         [] {
           return std::vector<Sample>{sample<SplitAttrs>({{{4, 3}}}, {0, 2, {}}),
                                      sample<SplitAttrs>({{{2, 6}}}, {1, 3, {1, 0, 5}}),
                                      sample<SplitAttrs>({{{0, 2}}}, {1, 2, {}})};
         },
     .like = "tensorflow.split"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      const Tensors parts = s.op.run(t, s.attrs);
      std::copy(parts.begin(), parts.end(), out.begin());
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      const auto& p = s.get<SplitAttrs>();
      std::vector<Tensor> parts;
      for (std::size_t i = 0; i < cts.size(); ++i) {
        if (cts[i].defined()) {
          parts.push_back(cts[i]);
          continue;
        }
        Shape shape = s.shape(0);
        shape[p.axis] = p.sizes.rank() ? p.sizes[static_cast<int>(i)] : shape[p.axis] / p.parts;
        parts.push_back(zeros(shape, s.args[0].dtype));
      }
      grads[0] = concat(parts, p.axis);
    });

namespace {

std::vector<Tensor> run_split(const Tensor& x, const SplitAttrs& attrs) {
  const Tensors parts = split_op.run({&x, 1}, &attrs);
  return std::vector<Tensor>(parts.begin(), parts.end());
}

}  // namespace

std::vector<Tensor> split(In x, int num_or_size_splits, int axis) {
  const int at = normal_axis("split", axis, x->rank()), parts = num_or_size_splits;
  const Size n = x->shape()[at];
  if (parts < 1 || (n.is_known() && n % parts != 0)) {
    fail<InvalidArgumentError>("[split] axis ", at, " of shape ", x->shape(),
                               " cannot be split into ", parts,
                               " equal parts; give a list of sizes instead");
  }
  if (parts == 1) return {x};
  return run_split(x, {at, parts, {}});
}

std::vector<Tensor> split(In x, const std::vector<Size>& num_or_size_splits, int axis) {
  const int at = normal_axis("split", axis, x->rank());
  const Size n = x->shape()[at];
  std::vector<Size> sizes = num_or_size_splits;
  Size known = 0, *open = nullptr;
  int opens = 0;
  for (Size& size : sizes) {
    if (is_same(size, -1)) {
      open = &size;
      ++opens;
    } else {
      known = known + size;
    }
  }
  const bool fits = opens == 0 ? sizes_agree(known, n)
                               : opens == 1 && (!n.is_known() || !known.is_known() || known <= n);
  if (sizes.empty() || !fits) {
    fail<InvalidArgumentError>("[split] the sizes add up to ", known, opens ? " and more" : "",
                               ", but axis ", at, " of shape ", x->shape(), " has ", n);
  }
  if (open) *open = n - known;
  // An attribute holds kMaxRank sizes: longer lists are split in two steps.
  std::vector<Tensor> parts;
  SplitAttrs groups{at, 0, {}};
  const std::size_t group = sizes.size() <= kMaxRank ? 1 : (sizes.size() + kMaxRank - 1) / kMaxRank;
  for (std::size_t i = 0; i < sizes.size(); i += group) {
    Size sum = 0;
    for (std::size_t k = i; k < std::min(i + group, sizes.size()); ++k) sum = sum + sizes[k];
    groups.sizes.push_back(sum);
    ++groups.parts;
  }
  const std::vector<Tensor> pieces =
      groups.parts == 1 ? std::vector<Tensor>{x} : run_split(x, groups);
  if (group == 1) return pieces;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto first = sizes.begin() + static_cast<std::ptrdiff_t>(i * group);
    const auto last = std::min(first + static_cast<std::ptrdiff_t>(group), sizes.end());
    for (const Tensor& part : split(pieces[i], std::vector<Size>(first, last), at))
      parts.push_back(part);
  }
  return parts;
}

Tensor stack(const std::vector<Tensor>& parts, int axis) {
  if (parts.empty()) fail<InvalidArgumentError>("[stack] got no tensors");
  const int at = normal_axis("stack", axis, parts[0].rank() + 1);
  std::vector<Tensor> expanded;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!shapes_agree(parts[i].shape(), parts[0].shape())) {
      fail<InvalidArgumentError>("[stack] part ", i, " has shape ", parts[i].shape(),
                                 ", part 0 has ", parts[0].shape(), "; all must have one shape");
    }
    expanded.push_back(expand_dims(parts[i], at));
  }
  return concat(expanded, at);
}

std::vector<Tensor> unstack(In x, int axis) {
  const int at = normal_axis("unstack", axis, x->rank());
  const Size n = x->shape()[at];
  if (!n.is_known()) {
    fail<InvalidArgumentError>("[unstack] axis ", at, " of shape ", x->shape(),
                               " has a size that is not known while tracing; how many tensors "
                               "there are must be known");
  }
  if (n == 0) return {};
  Shape shape = x->shape();
  shape.erase(at);
  std::vector<Tensor> parts = split(x, static_cast<int>(std::int64_t{n}), at);
  for (Tensor& part : parts) part = reshape(part, shape);
  return parts;
}

Tensor squeeze(In x) {
  Shape shape;
  for (const Size n : x->shape()) {
    if (!n.is_known()) {
      fail<UnimplementedError>("[squeeze] got shape ", x->shape(),
                               "; which sizes are 1 must be known, or the axes be named");
    }
    if (n != 1) shape.push_back(n);
  }
  return reshape(x, shape);
}

Tensor squeeze(In x, const Shape& axes) {
  if (axes.rank() == 0) return squeeze(x);
  const Ints normal = normal_axes("squeeze", axes, x->rank());
  Shape shape = x->shape();
  for (int i = normal.rank() - 1; i >= 0; --i) {
    const int axis = static_cast<int>(normal[i]);
    if (shape[axis] != 1) {
      fail<InvalidArgumentError>("[squeeze] axis ", axis, " of shape ", x->shape(), " has size ",
                                 shape[axis], "; only axes of size 1 can go away");
    }
    shape.erase(axis);
  }
  return reshape(x, shape);
}

}  // namespace gradus
