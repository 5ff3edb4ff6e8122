#include "kernels/gemm_siblings.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/gemm_tile.h"
#include "kernels/scratch.h"
#include "kernels/strided_copy.h"

namespace gradus::kernels {
namespace {

using std::int64_t;

int64_t columns(std::span<const Sibling> siblings) {
  int64_t n = 0;
  for (const Sibling& s : siblings) n += s.n;
  return n;
}

GemmArgs product(const GemmArgs& common, int64_t n) {
  GemmArgs g = common;
  g.n = g.ldb = g.ldc = n;
  return g;
}

// What n columns take, in panels of whole registers: one that is not full takes as long as half of
// it and what it has of the other half.
double panels(const GemmArgs& g, int64_t n) {
  const bool float64 = g.dtype == DType::float64;
  const TileForm form = g.trans_a ? TileForm::columns : TileForm::rows;
  const int64_t width = tile_cols(isa(), float64, form, g.m), last = n % width;
  const double part = static_cast<double>(vectors_for(last, isa(), float64)) /
                      static_cast<double>(vectors_for(width, isa(), float64));
  return static_cast<double>(n / width) + (last == 0 ? 0 : 0.5 + 0.5 * part);
}

// Copies rows of n elements between matrices whose rows are so many elements apart.
void copy_columns(int64_t element, int64_t rows, int64_t n, const void* from, int64_t from_row,
                  void* to, int64_t to_row) {
  const CopyAxis axes[] = {{rows, from_row * element, to_row * element}, {n, element, element}};
  strided_copy(static_cast<std::size_t>(element), from, to, axes, 2);
}

}  // namespace

// A row of a sibling takes about as long to copy as 12 steps of k in a panel, and as long again for
// each 20 columns. Less than a third of a panel is lost elsewhere. Measured in docs/design/025.
bool are_joined(const GemmArgs& common, std::span<const Sibling> siblings) {
  if (common.trans_b || size_of(common.dtype) < 4 || siblings.size() < 2) return false;
  const int64_t n = columns(siblings), at_once = products_at_once(product(common, n));
  double saved = -panels(common, n);
  for (const Sibling& s : siblings) {
    if (at_once == 0 || products_at_once(product(common, s.n)) != at_once) return false;
    saved += panels(common, s.n);
  }
  const auto m = static_cast<double>(common.m), k = static_cast<double>(common.k);
  const double copies = static_cast<double>(siblings.size()) + static_cast<double>(n) / 20;
  return saved > 0.3 && saved * m * k > 12 * (m + k) * copies;
}

void gemm_siblings(const GemmArgs& common, std::span<const Sibling> siblings) {
  GRADUS_ASSERT(!common.taker && !common.bias && !common.gate && !common.accumulate);
  if (!are_joined(common, siblings)) {
    for (const Sibling& s : siblings) {
      GemmArgs g = product(common, s.n);
      g.b = s.b;
      g.c = s.c;
      gemm(g);
    }
    return;
  }
  const auto element = static_cast<int64_t>(size_of(common.dtype));
  GemmArgs g = product(common, columns(siblings));
  const Scratch joined(static_cast<std::size_t>(g.k * g.n * element));
  g.b = joined.data();
  int64_t at = 0;
  for (const Sibling& s : siblings) {
    copy_columns(element, g.k, s.n, s.b, s.n, joined.as<char>() + at * element, g.n);
    at += s.n;
  }
  const auto take = [&](const Block& block, ComputeBlock compute) {
    const Scratch made(static_cast<std::size_t>(block.rows * block.cols * element));
    compute(made.data(), block.cols * element);
    int64_t first = 0;
    for (const Sibling& s : siblings) {
      const int64_t from = std::max(first, block.col);
      const int64_t to = std::min(first + s.n, block.col + block.cols);
      if (from < to) {
        copy_columns(element, block.rows, to - from, made.as<char>() + (from - block.col) * element,
                     block.cols,
                     static_cast<char*>(s.c) + (block.row * s.n + from - first) * element, s.n);
      }
      first += s.n;
    }
  };
  const BlockTaker taker = take;
  g.taker = &taker;
  gemm(g);
}

}  // namespace gradus::kernels
