// One row of a tensor, replaced or added to. Loops carry arrays through these: a program whose loop
// is the only owner of the array writes the row and nothing else.
#include <cstring>

#include "base/check.h"
#include "gradus/indexing.h"
#include "gradus/ops.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "kernels/scatter.h"
#include "ops/checks.h"
#include "ops/indices.h"
#include "ops/records.h"

namespace gradus {
namespace {

void infer_row(const Call& c, Avals& out) {
  const Shape &tensor = c.shape(0), &row = c.shape(2);
  check_index_dtype(c.op.name(), c.in[1].dtype);
  bool fits = tensor.rank() > 0 && row.rank() == tensor.rank() - 1 && c.shape(1).rank() == 0;
  for (int i = 0; fits && i < row.rank(); ++i) fits = sizes_agree(row[i], tensor[i + 1]);
  if (!fits || c.in[0].dtype != c.in[2].dtype) {
    fail<InvalidArgumentError>("[", c.op.name(), "] got a tensor ", name_of(c.in[0].dtype), " ",
                               tensor, ", an index of shape ", c.shape(1), " and a row ",
                               name_of(c.in[2].dtype), " ", row,
                               "; expected a scalar index and a row without the first axis");
  }
  out.push_back({c.in[0].dtype, tensor});
}

// Copies the tensor unless it is written in place; returns where the row begins.
char* find_row(const KernelCall& c, std::size_t& bytes) {
  const std::int64_t rows = c.shape(0)[0];
  const std::int64_t at =
      c.in[1].dtype == int32 ? *c.in[1].as<std::int32_t>() : *c.in[1].as<std::int64_t>();
  if (at < 0 || at >= rows) {
    fail<InvalidArgumentError>("[", c.op.name(), "] index ", at, " is not in [0, ", rows, ")");
  }
  bytes = static_cast<std::size_t>(c.in[2].count()) * size_of(c.in[2].dtype);
  if (c.out[0].data != c.in[0].data && bytes > 0)
    std::memcpy(c.out[0].data, c.in[0].data, bytes * static_cast<std::size_t>(rows));
  return c.out[0].as<char>() + static_cast<std::size_t>(at) * bytes;
}

void set_kernel(const KernelCall& c) {
  std::size_t bytes = 0;
  char* row = find_row(c, bytes);
  if (bytes > 0) std::memcpy(row, c.in[2].data, bytes);
}

void add_kernel(const KernelCall& c) {
  std::size_t bytes = 0;
  char* row = find_row(c, bytes);
  const std::int64_t first = 0;
  if (bytes > 0)
    kernels::scatter(kernels::ScatterOp::add, c.in[0].dtype, int64, &first, c.in[2].data,
                     {1, c.in[2].count(), 1}, row);
}

SampleArg index_below(double limit) { return {{}, 0, limit, Fill::integer}; }

std::vector<Sample> row_samples() {
  return {{{{{4, 3}}, index_below(4), {{3}}}, nullptr},
          {{{{5}}, index_below(5), {{}}}, nullptr},
          {{{{1, 2, 2}}, index_below(1), {{2, 2}}}, nullptr},
          {{{{3, 0}}, index_below(3), {{0}}}, nullptr}};
}

Reads read_index(const void*, std::uint32_t) { return {2, 0}; }

OpInfo row_info(const char* name, const char* doc, DTypes dtypes, KernelFn kernel) {
  return {.name = name,
          .doc = doc,
          .dtypes = dtypes,
          .inputs = 3,
          .differentiable = 5,
          .infer = infer_row,
          .kernel = kernel,
          .batch = batch_loop,
          .reads = read_index,
          .samples = row_samples,
          .in_place_ok = true};
}

Shape row_of(const Shape& shape) {
  Shape row = shape;
  row.erase(0);
  return row;
}

}  // namespace

// Not `linear`: the row's gradient is read before the tensor's is written, which can then happen in
// place.
const Op set_row_op = general(
    row_info("set_row", "A tensor with one row replaced.", kAnyDType, set_kernel),
    [](const Site& s, std::span<const Tensor> tangents, std::span<Tensor> out) {
      const auto moved = [&](std::size_t i) {
        return tangents[i].defined() ? tangents[i] : zeros(s.args[i].shape, s.args[i].dtype);
      };
      out[0] = set_row(moved(0), s.in[1], moved(2));
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
       std::span<Cotangent> grads) {
      if (wanted & 4) grads[2] = gather(cts[0], s.in[1]);
      if (wanted & 1)
        grads[0] = set_row(cts[0], s.in[1], zeros(row_of(s.shape(0)), cts[0].dtype()));
    });

const Op add_row_op =
    linear(row_info("add_row", "A tensor with something added to one row.", kNumeric, add_kernel),
           [](const Site& s, int input, const Tensor& ct) -> Cotangent {
             return input == 2 ? gather(ct, s.in[1]) : ct;
           });

Tensor set_row(In tensor, In index, In row) { return set_row_op(tensor, index, row); }
Tensor add_row(In tensor, In index, In row) { return add_row_op(tensor, index, row); }

}  // namespace gradus
