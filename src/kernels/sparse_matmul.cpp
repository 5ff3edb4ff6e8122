#include "kernels/sparse_matmul.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

#include "kernels/isa.h"
#include "kernels/ranges.h"
#include "kernels/reduce.h"
#include "kernels/row_groups.h"
#include "kernels/rows_loops.h"
#include "kernels/sparse_matmul_loops.h"

namespace gradus::kernels {
namespace {

constexpr std::int64_t kPiece = 256;

template <class T>
void sum_complex(const ScaledRows& s, void* out) {
  const T *values = static_cast<const T*>(s.values), *dense = static_cast<const T*>(s.dense);
  for (std::int64_t i = 0; i < s.width; ++i) {
    T sum{};
    for (std::int64_t e = 0; e < s.count; ++e) sum += values[e] * dense[s.columns[e] * s.width + i];
    static_cast<T*>(out)[i] = sum;
  }
}

template <class T>
void dots_complex(const SparseLoops::Pairs& p, void* out) {
  const T *a = static_cast<const T*>(p.a), *b = static_cast<const T*>(p.b);
  for (std::int64_t e = 0; e < p.count; ++e) {
    T sum{};
    for (std::int64_t i = 0; i < p.width; ++i)
      sum += a[p.rows[e] * p.width + i] * b[p.columns[e] * p.width + i];
    static_cast<T*>(out)[e] = sum;
  }
}

// The loops for a dtype, and how its sums are added up: as `unit` numbers of type `sum` each.
struct Loops {
  explicit Loops(DType t) : element(static_cast<std::int64_t>(size_of(t))) {
    static const SparseLoops& table =
        pick(baseline::sparse_loops, avx2::sparse_loops, avx512::sparse_loops);
    static const RowsLoops& rows = pick(baseline::rows_loops, avx2::rows_loops, avx512::rows_loops);
    if (t == complex64 || t == complex128) {
      unit = 2;
      sum = stored = t == complex64 ? float32 : float64;
      sum_scaled =
          t == complex64 ? sum_complex<std::complex<float>> : sum_complex<std::complex<double>>;
      dots =
          t == complex64 ? dots_complex<std::complex<float>> : dots_complex<std::complex<double>>;
    } else {
      stored = t == int32 ? uint32 : t == int64 ? uint64 : t;
      sum = t == float16 || t == bfloat16 ? float32 : stored;
      sum_scaled = table.sum_scaled[static_cast<int>(stored)];
      dots = table.dots[static_cast<int>(stored)];
      sum_narrow = table.sum_narrow[static_cast<int>(stored)];
    }
    add_row = rows.add_row;
  }

  std::int64_t sum_bytes() const { return unit * static_cast<std::int64_t>(size_of(sum)); }
  // to[:] += from[:]
  void add(const void* from, std::int64_t width, void* to) const {
    add_row[static_cast<int>(sum)](from, width * unit, true, false, to);
  }
  void round(const void* from, std::int64_t width, void* to) const {
    add_row[static_cast<int>(stored)](from, width * unit, false, false, to);
  }
  bool rounds() const { return sum != stored; }

  std::int64_t element, unit = 1;
  DType stored, sum;
  SparseLoops::SumScaled sum_scaled;
  SparseLoops::Dots dots;
  SparseLoops::SumNarrow sum_narrow = nullptr;
  const RowsLoops::AddRow* add_row;
};

// Long sums as sums of halves.
void sum_halves(const Loops& loops, ScaledRows rows, void* out) {
  if (rows.count <= kPiece) return loops.sum_scaled(rows, out);
  ScaledRows second = rows;
  rows.count /= 2;
  second.count -= rows.count;
  second.listed -= rows.count;
  second.values = static_cast<const char*>(rows.values) + rows.count * loops.element;
  second.columns += rows.count;
  Scratch other(static_cast<std::size_t>(rows.width * loops.sum_bytes()));
  sum_halves(loops, rows, out);
  sum_halves(loops, second, other.data());
  loops.add(other.data(), rows.width, out);
}

template <std::size_t kBytes>
void take(const void* values, const std::uint32_t* positions, std::int64_t count, char* out) {
  for (std::int64_t e = 0; e < count; ++e)
    std::memcpy(out + e * static_cast<std::int64_t>(kBytes),
                static_cast<const char*>(values) + positions[e] * kBytes, kBytes);
}

void take(std::int64_t bytes, const void* values, const std::uint32_t* positions,
          std::int64_t count, char* out) {
  switch (bytes) {
    case 2:
      return take<2>(values, positions, count, out);
    case 4:
      return take<4>(values, positions, count, out);
    case 8:
      return take<8>(values, positions, count, out);
    default:
      return take<16>(values, positions, count, out);
  }
}

// A sparse matrix with its elements in the order of its rows.
class Rows {
 public:
  Rows(const Loops& loops, const ElementPlaces& places, const void* values, std::int64_t rows)
      : loops_(loops),
        groups_(int64, places.rows(), places.count(), std::max<std::int64_t>(1, rows)),
        memory_(static_cast<std::size_t>(places.count() * (8 + loops.element))),
        columns_(memory_.as<std::int64_t>()),
        values_(reinterpret_cast<char*>(columns_ + places.count())) {
    const std::uint32_t* positions = groups_.positions();
    parallel_ranges(places.count(), grain_of(32), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t e = begin; e < end; ++e) columns_[e] = places.columns()[positions[e]];
      take(loops.element, values, positions + begin, end - begin, values_ + begin * loops.element);
    });
  }

  const RowGroups& groups() const { return groups_; }

  // The rows of a product from behind those of group first - 1 to those of group last - 1; up to
  // the end if those are the last. Rows without elements are cleared.
  void multiply(std::int64_t first, std::int64_t last, const char* dense, const SparseShape& shape,
                char* out) const {
    const std::int64_t *starts = groups_.starts(), *rows = groups_.rows();
    const std::int64_t row_bytes = shape.width * loops_.element;
    std::int64_t next = first == 0 ? 0 : rows[first - 1] + 1;  // the first row not yet written
    const auto clear_up_to = [&](std::int64_t row) {
      if (row > next)
        std::memset(out + next * row_bytes, 0, static_cast<std::size_t>((row - next) * row_bytes));
      next = row + 1;
    };
    std::int64_t longest = 0;
    for (std::int64_t g = first; g < last; ++g) {
      clear_up_to(rows[g]);
      longest = std::max(longest, starts[g + 1] - starts[g]);
    }
    if (last == groups_.size()) clear_up_to(shape.rows);
    if (loops_.sum_narrow && shape.width <= SparseLoops::kNarrow && longest <= kPiece) {
      return loops_.sum_narrow(
          {values_, dense, columns_, starts + first, rows + first, last - first, shape.width, out});
    }
    Scratch wide(loops_.rounds() ? static_cast<std::size_t>(shape.width * loops_.sum_bytes()) : 0);
    for (std::int64_t g = first; g < last; ++g) {
      char* row = out + rows[g] * row_bytes;
      void* sum = loops_.rounds() ? wide.data() : row;
      sum_halves(loops_,
                 {values_ + starts[g] * loops_.element, dense, columns_ + starts[g],
                  starts[g + 1] - starts[g], shape.width, starts[last] - starts[g]},
                 sum);
      if (loops_.rounds()) loops_.round(sum, shape.width, row);
    }
  }

 private:
  const Loops& loops_;
  RowGroups groups_;
  Scratch memory_;
  std::int64_t* columns_;
  char* values_;
};

}  // namespace

ElementPlaces::ElementPlaces(DType index_type, const void* coordinates, std::int64_t count,
                             bool transposed)
    : memory_(static_cast<std::size_t>(count) * 16), count_(count) {
  auto *rows = memory_.as<std::int64_t>(), *columns = rows + count;
  const auto split = [&](const auto* pairs) {
    parallel_ranges(count, grain_of(32), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t e = begin; e < end; ++e) {
        rows[e] = pairs[2 * e + (transposed ? 1 : 0)];
        columns[e] = pairs[2 * e + (transposed ? 0 : 1)];
      }
    });
  };
  if (index_type == int32)
    split(static_cast<const std::int32_t*>(coordinates));
  else
    split(static_cast<const std::int64_t*>(coordinates));
}

std::int64_t ElementPlaces::first_outside(std::int64_t row_limit, std::int64_t column_limit) const {
  const auto inside = [](std::int64_t i, std::int64_t limit) { return i >= 0 && i < limit; };
  for (std::int64_t e = 0; e < count_; ++e)
    if (!inside(rows()[e], row_limit) || !inside(columns()[e], column_limit)) return e;
  return -1;
}

void sparse_matmul(DType t, const ElementPlaces& places, const void* values, const void* dense,
                   const SparseShape& shape, void* out) {
  const Loops loops(t);
  const Rows matrix(loops, places, values, shape.rows);
  const std::int64_t groups = matrix.groups().size(), *starts = matrix.groups().starts();
  const std::int64_t row_bytes = shape.width * loops.element;
  // Ranges of groups with about the same number of elements; several products of a small matrix.
  std::vector<std::int64_t> cuts = {0};
  const std::int64_t grain = grain_of(row_bytes);
  for (std::int64_t g = 0; g + 1 < groups; ++g)
    if (starts[g + 1] - starts[cuts.back()] >= grain) cuts.push_back(g + 1);
  cuts.push_back(groups);
  const auto ranges = static_cast<std::int64_t>(cuts.size()) - 1;
  const std::int64_t batches = ranges > 1 ? 1 : grain_of(places.count() * row_bytes);
  const std::int64_t pieces = (shape.batch + batches - 1) / batches;
  parallel_ranges(ranges * pieces, 1, [&](std::int64_t task, std::int64_t) {
    const std::int64_t range = task % ranges, first = task / ranges * batches;
    for (std::int64_t b = first; b < std::min(shape.batch, first + batches); ++b) {
      matrix.multiply(cuts[range], cuts[range + 1],
                      static_cast<const char*>(dense) + b * shape.columns * row_bytes, shape,
                      static_cast<char*>(out) + b * shape.rows * row_bytes);
    }
  });
}

void sampled_matmul(DType t, const ElementPlaces& places, const void* a, const void* b,
                    const SparseShape& shape, void* out) {
  const Loops loops(t);
  const std::int64_t row_bytes = shape.width * loops.element, sum_bytes = loops.sum_bytes();
  const auto matrix = [&](const void* all, std::int64_t rows, std::int64_t at) {
    return static_cast<const char*>(all) + at * rows * row_bytes;
  };
  parallel_ranges(places.count(), grain_of(2 * row_bytes * shape.batch),
                  [&](std::int64_t begin, std::int64_t end) {
                    const std::int64_t n = end - begin;
                    char* to = static_cast<char*>(out) + begin * loops.element;
                    Scratch sums(static_cast<std::size_t>((shape.batch + 1) * n * sum_bytes));
                    for (std::int64_t i = 0; i < shape.batch; ++i)
                      loops.dots({matrix(a, shape.rows, i), matrix(b, shape.columns, i),
                                  places.rows() + begin, places.columns() + begin, n, shape.width},
                                 sums.as<char>() + i * n * sum_bytes);
                    char* total = sums.as<char>() + shape.batch * n * sum_bytes;
                    reduce_axis(Reduction::sum, loops.sum, sums.data(), 1, shape.batch,
                                n * loops.unit, total);
                    loops.round(total, n, to);
                  });
}

}  // namespace gradus::kernels
