#include "control/choices.h"

#include "autodiff/some_inputs.h"
#include "gradus/ops.h"
#include "graph/batch.h"

namespace gradus {
namespace {

struct Choices final : Held {
  std::shared_ptr<Branches> branches;
  std::vector<bool> rows;  // by operand
};

struct ChoicesAttrs {
  Held* held = nullptr;
  static auto fields() { return attr_fields(attr("choices", &ChoicesAttrs::held)); }
  const Choices& get() const { return *static_cast<const Choices*>(held); }
};

const Choices& choices_of(const void* attrs) {
  return static_cast<const ChoicesAttrs*>(attrs)->get();
}

// An index that is out of range takes the last branch.
Tensor in_range(const Tensor& index, std::size_t branches) {
  const Tensor given = cast(index, int64), last(static_cast<std::int64_t>(branches) - 1);
  return where(logical_or(less(given, 0), greater(given, last)), last, given);
}

// Behind another axis: the gradient of rows of axis 0 would be sparse.
Tensor rows_at(const Tensor& t, const Tensor& places) {
  return squeeze(gather(expand_dims(t, 0), places, 1), {0});
}

Tensors run_each_on_its_own(const void* attrs, std::span<const Tensor> in) {
  const Choices& choices = choices_of(attrs);
  const auto& regions = choices.branches->regions();
  const Tensor index = in_range(in[0], regions.size());
  std::vector<std::vector<Tensor>> results;
  Tensor place = zeros_like(index);  // of each example's result among those of all branches
  Tensor before(std::int64_t{0});    // results of the branches so far
  for (std::size_t k = 0; k < regions.size(); ++k) {
    const Tensor chose = equal(index, Tensor(static_cast<std::int64_t>(k)));
    const Tensor which = reshape(where(chose), {-1});
    const Size count = which.shape()[0];
    const bool nobody = is_same(count, 0) && !(results.empty() && k + 1 == regions.size());
    if (nobody) continue;
    const Level level = next_level();
    SmallVector<Tensor, 8> operands;
    for (std::size_t i = 0; i < choices.rows.size(); ++i)
      operands.push_back(choices.rows[i] ? make_batched(rows_at(in[1 + i], which), level)
                                         : in[1 + i]);
    const Tensors out = (*regions[k])(operands);
    results.resize(out.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      results[i].push_back(unbatch(out[i], level, count));
    place = where(chose, cumsum(cast(chose, int64)) - 1 + before, place);
    before = before + count_nonzero(chose);
  }
  Tensors all;
  for (const std::vector<Tensor>& parts : results)
    all.push_back(rows_at(parts.size() == 1 ? parts[0] : concat(parts, 0), place));
  return all;
}

void push(const Site& s, std::span<const Tensor> tangents, std::span<Tensor> out) {
  const Choices& choices = choices_of(s.attrs);
  const auto moved = tangents.subspan(1);
  const Branches::Derivative d = choices.branches->push(are_defined(moved));
  std::vector<Tensor> operands(s.in.begin() + 1, s.in.end());
  std::vector<bool> rows = choices.rows;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (!moved[i].defined()) continue;
    operands.push_back(moved[i]);
    rows.push_back(choices.rows[i]);
  }
  if (d.which.empty()) return;
  const Tensors found = run_choices(d.branches, s.in[0], operands, rows);
  for (std::size_t k = 0; k < d.which.size(); ++k) out[d.which[k]] = found[k];
}

void pull(const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
          std::span<Cotangent> grads) {
  const Choices& choices = choices_of(s.attrs);
  const Branches::Derivative d =
      choices.branches->pull(wanted_inputs(s, wanted, 1), are_defined(cts));
  std::vector<Tensor> operands(s.in.begin() + 1, s.in.end());
  std::vector<bool> rows = choices.rows;
  for (const Tensor& ct : cts) {
    if (!ct.defined()) continue;
    operands.push_back(ct);
    rows.push_back(true);
  }
  if (d.which.empty()) return;
  const Tensors found = run_choices(d.branches, s.in[0], operands, rows);
  for (std::size_t k = 0; k < d.which.size(); ++k) {
    const std::size_t i = d.which[k];
    grads[i + 1] = choices.rows[i] ? found[k] : reduce_sum(found[k], {0});
  }
}

// Rows for all pairs of an example of the vmap further out (first axis) and one of ours.
Tensor rows_of_pairs(Tensor t, bool has_outer, bool has_rows, Size outer, Size inner) {
  Shape shape = t.shape();
  if (!has_rows) {
    t = expand_dims(t, has_outer ? 1 : 0);
    shape.insert(has_outer ? 1 : 0, inner);
  }
  if (!has_outer) shape.insert(0, outer);
  t = broadcast_to(t, shape);
  shape.erase(0);
  shape[0] = outer * inner;
  return reshape(t, shape);
}

// Inside another vmap: examples of both make one batch.
Tensors merge_batches(const BatchCall& c) {
  const Choices& choices = choices_of(c.attrs);
  const Size inner = c.in[0].shape()[c.is_batched(0) ? 1 : 0];
  const Tensor index = rows_of_pairs(c.in[0], c.is_batched(0), true, c.size, inner);
  std::vector<Tensor> operands;
  std::vector<bool> rows;
  for (std::size_t i = 0; i < choices.rows.size(); ++i) {
    const bool has_outer = c.is_batched(static_cast<int>(i + 1));
    rows.push_back(has_outer || choices.rows[i]);
    operands.push_back(rows[i]
                           ? rows_of_pairs(c.in[i + 1], has_outer, choices.rows[i], c.size, inner)
                           : c.in[i + 1]);
  }
  Tensors results = run_choices(choices.branches, index, operands, rows);
  for (Tensor& t : results) {
    Shape shape = t.shape();
    shape[0] = inner;
    shape.insert(0, c.size);
    t = reshape(t, shape);
  }
  return results;
}

const Op choices_op = composite({.name = "choices",
                                 .doc = "Branches of which each example of a vmap chooses one.",
                                 .dtypes = kAnyDType,
                                 .attrs = &attr_type<ChoicesAttrs>(),
                                 .inputs = -1,
                                 .outputs = kAny,
                                 .differentiable = ~1u,
                                 .batch = merge_batches,
                                 .reads =
                                     [](const void*, std::uint32_t) {
                                       return Reads{~0u, 0};
                                     }},
                                run_each_on_its_own, pull, push);

}  // namespace

Tensors run_choices(const std::shared_ptr<Branches>& branches, const Tensor& index,
                    std::span<const Tensor> operands, const std::vector<bool>& rows) {
  const auto choices = std::make_shared<Choices>();
  choices->branches = branches;
  choices->rows = rows;
  const ChoicesAttrs attrs{choices.get()};
  std::vector<Tensor> in{index};
  in.insert(in.end(), operands.begin(), operands.end());
  return choices_op.run(in, &attrs);
}

}  // namespace gradus
