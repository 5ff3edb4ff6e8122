#include "autodiff/slopes.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "gradus/ops.h"
#include "graph/level.h"

namespace gradus {
namespace {

// Above this number of instructions a derivative is worth an array of its own: a product has two,
// an exponential fifteen.
constexpr std::size_t kCheap = 10;

bool is_costly(const Op& derived) {
  static std::mutex mutex;
  static std::unordered_map<const Op*, bool> known;
  const std::lock_guard lock(mutex);
  if (const auto it = known.find(&derived); it != known.end()) return it->second;
  const ElementwiseRule& rule = *derived.elementwise;
  const DType dtype = rule.only ? expr::dtype_of(*rule.only) : float32;
  SmallVector<DType, 8> dtypes;
  for (int i = 0; i < rule.arity; ++i) dtypes.push_back(rule.bool_inputs >> i & 1 ? bool_ : dtype);
  const expr::Program program = expr::lower(rule.program(dtypes, dtype, 0));
  const auto is_free = [](const expr::Instr& i) {
    return i.code == expr::Code::input || i.code == expr::Code::constant;
  };
  const auto free = static_cast<std::size_t>(std::ranges::count_if(program.code, is_free));
  return known[&derived] = program.code.size() - free > kCheap;
}

}  // namespace

Tensor scale_by_derivative(const ElementwiseRule::Derived& derived, std::span<const Tensor> args) {
  const Tensor& ct = args[0];
  bool is_shared = ct.impl()->kind == ValueKind::batched && !is_complex(ct.dtype());
  for (const Tensor& read : args.subspan(1)) is_shared &= level_of(read) < level_of(ct);
  const bool costly = is_shared && args.size() > 1 && (!derived.op || is_costly(*derived.op));
  if (!costly) return derived.run(args);
  SmallVector<Tensor, 8> once(args.begin(), args.end());
  once[0] = ones({}, ct.dtype());
  return multiply_no_nan(derived.run(once), ct);
}

}  // namespace gradus
