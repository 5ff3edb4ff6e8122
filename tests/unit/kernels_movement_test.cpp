#include "kernels/movement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace gradus::kernels {
namespace {

using Shape = std::vector<std::int64_t>;

std::int64_t count_of(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

// Calls f(index of every axis, flat position) in row-major order.
void for_each_index(const Shape& shape, const std::function<void(const Shape&, std::int64_t)>& f) {
  Shape index(shape.size());
  for (std::int64_t i = 0; i < count_of(shape); ++i) {
    std::int64_t rest = i;
    for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; --axis) {
      index[axis] = rest % shape[axis];
      rest /= shape[axis];
    }
    f(index, i);
  }
}

std::int64_t flat(const Shape& shape, const Shape& index) {
  std::int64_t i = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) i = i * shape[axis] + index[axis];
  return i;
}

// Items of any size whose bytes depend on their place.
std::vector<char> items(std::size_t size, std::int64_t count) {
  std::vector<char> bytes(size * static_cast<std::size_t>(count));
  std::mt19937 random(static_cast<unsigned>(size));
  for (char& b : bytes) b = static_cast<char>(random());
  return bytes;
}

// Runs `kernel` into a buffer with guards and compares item by item with in[source(index)], where a
// negative source means zeros.
void expect_moved(std::size_t size, const Shape& in_shape, const Shape& out_shape,
                  const std::function<void(const void*, void*)>& kernel,
                  const std::function<std::int64_t(const Shape&)>& source) {
  const std::vector<char> in = items(size, count_of(in_shape));
  const std::size_t bytes = size * static_cast<std::size_t>(count_of(out_shape));
  std::vector<char> out(bytes + 2, 0x5a);
  kernel(in.data(), out.data() + 1);  // misaligned on purpose
  EXPECT_EQ(out.front(), 0x5a);
  EXPECT_EQ(out.back(), 0x5a);
  std::int64_t wrong = 0;
  const std::vector<char> zero(size, 0);
  for_each_index(out_shape, [&](const Shape& index, std::int64_t i) {
    const std::int64_t from = source(index);
    const char* wanted = from < 0 ? zero.data() : in.data() + static_cast<std::size_t>(from) * size;
    wrong += std::memcmp(out.data() + 1 + static_cast<std::size_t>(i) * size, wanted, size) != 0;
  });
  EXPECT_EQ(wrong, 0) << "items of " << size << " bytes";
}

constexpr std::size_t kSizes[] = {1, 2, 4, 8, 16};

TEST(KernelsMovement, TransposeAnyPermutation) {
  for (const Shape& shape : std::vector<Shape>{{1},
                                               {5},
                                               {0, 3},
                                               {7, 9},
                                               {8, 8},
                                               {70, 131},
                                               {512, 33},
                                               {3, 1, 5},
                                               {4, 6, 2},
                                               {3, 17, 20},
                                               {2, 3, 4, 5},
                                               {2, 1, 3, 2, 9}}) {
    const int rank = static_cast<int>(shape.size());
    std::vector<int> permutation(shape.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    do {
      Shape out_shape;
      for (const int axis : permutation) out_shape.push_back(shape[axis]);
      for (const std::size_t size : kSizes)
        expect_moved(
            size, shape, out_shape,
            [&](const void* in, void* out) {
              transpose(size, in, shape.data(), rank, permutation.data(), out);
            },
            [&](const Shape& index) {
              Shape from(shape.size());
              for (int i = 0; i < rank; ++i) from[permutation[i]] = index[i];
              return flat(shape, from);
            });
    } while (rank < 5 && std::next_permutation(permutation.begin(), permutation.end()));
  }
}

TEST(KernelsMovement, LargeTransposeWithAlignedRowsIsStreamed) {
  const std::int64_t rows = 4096, columns = 2080;  // 34 MB: beyond the caches
  std::vector<std::uint32_t> in(rows * columns), out(rows * columns);
  std::iota(in.begin(), in.end(), 0u);
  const Shape shape = {rows, columns};
  const int permutation[] = {1, 0};
  transpose(4, in.data(), shape.data(), 2, permutation, out.data());
  std::int64_t wrong = 0;
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = 0; r < rows; ++r) wrong += out[c * rows + r] != in[r * columns + c];
  EXPECT_EQ(wrong, 0);
}

TEST(KernelsMovement, LargeCopiesAndFillsAreStreamed) {
  const std::int64_t n = (std::int64_t{40} << 20) + 5;
  std::vector<char> in(n), out(n + 3);
  for (std::int64_t i = 0; i < n; ++i) in[i] = static_cast<char>(i % 251);
  const CopyAxis axis = {n, 1, 1};
  strided_copy(1, in.data(), out.data() + 3, &axis, 1);
  EXPECT_EQ(std::memcmp(in.data(), out.data() + 3, n), 0);
  const std::uint32_t word = 0x04030201;
  fill(4, &word, n / 4, out.data() + 3);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < n / 4; ++i)
    wrong += std::memcmp(out.data() + 3 + 4 * i, &word, 4) != 0;
  EXPECT_EQ(wrong, 0);
}

TEST(KernelsMovement, Broadcast) {
  struct Case {
    Shape in, out;
  };
  for (const auto& [in_shape, out_shape] : std::vector<Case>{{{}, {3, 4}},
                                                             {{1}, {7}},
                                                             {{5}, {6, 5}},
                                                             {{6, 1}, {6, 70}},
                                                             {{3, 1, 2}, {4, 3, 5, 2}},
                                                             {{1, 4, 1}, {2, 4, 3}},
                                                             {{2, 1}, {2, 0}}})
    for (const std::size_t size : kSizes)
      expect_moved(
          size, in_shape, out_shape,
          [&](const void* in, void* out) {
            broadcast_to(size, in, in_shape.data(), static_cast<int>(in_shape.size()), out,
                         out_shape.data(), static_cast<int>(out_shape.size()));
          },
          [&](const Shape& index) {
            Shape from(index.end() - static_cast<std::ptrdiff_t>(in_shape.size()), index.end());
            for (std::size_t i = 0; i < from.size(); ++i) from[i] %= in_shape[i];
            return flat(in_shape, from);
          });
}

TEST(KernelsMovement, ConcatAndSplitAreInverse) {
  const Shape extents = {3, 0, 1, 5};
  for (const std::int64_t outer : {1, 4})
    for (const std::int64_t inner : {1, 3, 40}) {
      std::vector<std::vector<float>> parts;
      std::vector<const void*> ins;
      float next = 0;
      for (const std::int64_t n : extents) {
        parts.emplace_back(outer * n * inner);
        for (float& x : parts.back()) x = next++;
      }
      for (const auto& part : parts) ins.push_back(part.data());
      std::vector<float> whole(outer * 9 * inner);
      concat(4, ins.data(), extents.data(), 4, outer, inner, whole.data());
      for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t i = 0; i < inner; ++i) {
          EXPECT_EQ(whole[(o * 9 + 2) * inner + i], parts[0][(o * 3 + 2) * inner + i]);
          EXPECT_EQ(whole[(o * 9 + 3) * inner + i], parts[2][o * inner + i]);
          EXPECT_EQ(whole[(o * 9 + 8) * inner + i], parts[3][(o * 5 + 4) * inner + i]);
        }
      std::vector<std::vector<float>> back = parts;
      for (auto& part : back) std::fill(part.begin(), part.end(), -1.0f);
      const std::vector<float> unwanted = back[0];
      void* outs[] = {nullptr, back[1].data(), back[2].data(), back[3].data()};
      split(4, whole.data(), extents.data(), 4, outer, inner, outs);
      EXPECT_EQ(back[0], unwanted);
      EXPECT_EQ(back[2], parts[2]);
      EXPECT_EQ(back[3], parts[3]);
    }
}

TEST(KernelsMovement, SlicesAndTheirTranspose) {
  struct Case {
    Shape shape, begin, step, extent;
  };
  for (const Case& c : std::vector<Case>{{{10}, {2}, {3}, {3}},
                                         {{10}, {9}, {-1}, {10}},
                                         {{10}, {8}, {-4}, {3}},
                                         {{5, 6}, {1, 5}, {2, -2}, {2, 3}},
                                         {{4, 5, 6}, {3, 0, 1}, {-1, 1, 2}, {4, 5, 2}},
                                         {{4, 5, 6}, {0, 1, 0}, {1, 1, 1}, {4, 3, 6}},
                                         {{40, 50}, {0, 10}, {1, 1}, {40, 33}},
                                         {{3, 3}, {0, 0}, {1, 1}, {0, 3}}}) {
    const int rank = static_cast<int>(c.shape.size());
    const Slice slice = {c.begin.data(), c.step.data(), c.extent.data()};
    const auto inside = [&](const Shape& index) {
      Shape from(index);
      for (int i = 0; i < rank; ++i) from[i] = c.begin[i] + index[i] * c.step[i];
      return flat(c.shape, from);
    };
    for (const std::size_t size : kSizes) {
      expect_moved(
          size, c.shape, c.extent,
          [&](const void* in, void* out) {
            read_slice(size, in, c.shape.data(), rank, slice, out);
          },
          inside);
      expect_moved(
          size, c.extent, c.shape,
          [&](const void* in, void* out) {
            scatter_slice(size, in, slice, rank, out, c.shape.data());
          },
          [&](const Shape& index) -> std::int64_t {
            Shape at(index);
            for (int i = 0; i < rank; ++i) {
              const std::int64_t offset = index[i] - c.begin[i];
              if (offset % c.step[i] != 0) return -1;
              at[i] = offset / c.step[i];
              if (at[i] < 0 || at[i] >= c.extent[i]) return -1;
            }
            return flat(c.extent, at);
          });
    }
  }
}

TEST(KernelsMovement, PadWithAValue) {
  const Shape shape = {2, 3}, before = {1, 0}, after = {0, 2};
  const std::int16_t in[] = {1, 2, 3, 4, 5, 6}, value = 9;
  std::vector<std::int16_t> out(15);
  pad(2, in, shape.data(), 2, before.data(), after.data(), &value, out.data());
  EXPECT_EQ(out, (std::vector<std::int16_t>{9, 9, 9, 9, 9, 1, 2, 3, 9, 9, 4, 5, 6, 9, 9}));
}

TEST(KernelsMovement, MirrorPadAndItsTranspose) {
  std::mt19937 random(1);
  for (const Mirror mirror : {Mirror::reflect, Mirror::symmetric}) {
    const std::int64_t edge = mirror == Mirror::reflect ? 1 : 0;
    const Shape shape = {4, 1 + edge, 5}, before = {3, 1, 4}, after = {2, 1, 0};
    Shape padded(3);
    for (int i = 0; i < 3; ++i) padded[i] = before[i] + shape[i] + after[i];
    const auto source = [&](const Shape& index) {
      Shape from(3);
      for (int i = 0; i < 3; ++i) {
        std::int64_t at = index[i] - before[i];
        if (at < 0) at = -at - 1 + edge;
        if (at >= shape[i]) at = 2 * shape[i] - 1 - edge - at;
        from[i] = at;
      }
      return flat(shape, from);
    };
    for (const std::size_t size : kSizes)
      expect_moved(
          size, shape, padded,
          [&](const void* in, void* out) {
            mirror_pad(mirror, size, in, shape.data(), 3, before.data(), after.data(), out);
          },
          source);
    std::vector<double> cotangent(count_of(padded)), wanted(count_of(shape)),
        out(wanted.size(), -1.0);
    for (double& x : cotangent) x = static_cast<double>(random() % 100);
    for_each_index(
        padded, [&](const Shape& index, std::int64_t i) { wanted[source(index)] += cotangent[i]; });
    mirror_pad_transpose(mirror, float64, cotangent.data(), shape.data(), 3, before.data(),
                         after.data(), out.data());
    EXPECT_EQ(out, wanted);
  }
}

TEST(KernelsMovement, TileReverseRoll) {
  const Shape shape = {3, 1, 4}, multiples = {2, 3, 2}, tiled = {6, 3, 8};
  for (const std::size_t size : kSizes)
    expect_moved(
        size, shape, tiled,
        [&](const void* in, void* out) { tile(size, in, shape.data(), 3, multiples.data(), out); },
        [&](const Shape& i) {
          return flat(shape, {i[0] % 3, 0, i[2] % 4});
        });
  const Shape cube = {5, 3, 7};
  for (std::uint64_t axes = 0; axes < 8; ++axes)
    expect_moved(
        4, cube, cube,
        [&](const void* in, void* out) { reverse(4, in, cube.data(), 3, axes, out); },
        [&](Shape i) {
          for (int a = 0; a < 3; ++a)
            if (axes >> a & 1) i[a] = cube[a] - 1 - i[a];
          return flat(cube, i);
        });
  for (const Shape& shifts : std::vector<Shape>{{0, 0, 0}, {1, 0, -2}, {-7, 4, 100}, {0, 3, 7}})
    expect_moved(
        8, cube, cube,
        [&](const void* in, void* out) { roll(8, in, cube.data(), 3, shifts.data(), out); },
        [&](Shape i) {
          for (int a = 0; a < 3; ++a) i[a] = ((i[a] - shifts[a]) % cube[a] + cube[a]) % cube[a];
          return flat(cube, i);
        });
}

TEST(KernelsMovement, BandPart) {
  for (const std::int64_t lower : {-1, 0, 1, 9})
    for (const std::int64_t upper : {-1, 0, 2, 9})
      expect_moved(
          4, {2, 4, 5}, {2, 4, 5},
          [&](const void* in, void* out) { band_part(4, in, 2, 4, 5, lower, upper, out); },
          [&](const Shape& i) {
            const bool kept =
                (lower < 0 || i[1] - i[2] <= lower) && (upper < 0 || i[2] - i[1] <= upper);
            return kept ? flat({2, 4, 5}, i) : -1;
          });
}

TEST(KernelsMovement, OneHotIgnoresIndicesOutside) {
  const std::int32_t indices[] = {0, -1, 5, 2};
  const float on = 3, off = -1;
  std::vector<float> out(12);
  one_hot(int32, indices, 4, 3, 1, 4, &on, &off, out.data());
  EXPECT_EQ(out, (std::vector<float>{3, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 3}));
  const std::int64_t wide[] = {1, 0, 2, 2};
  one_hot(int64, wide, 1, 3, 4, 4, &on, &off, out.data());
  EXPECT_EQ(out, (std::vector<float>{-1, 3, -1, -1, 3, -1, -1, -1, -1, -1, 3, 3}));
}

TEST(KernelsMovement, Iota) {
  const float start = 0.25f, step = 0.1f;
  std::vector<float> out(100);
  iota(float32, &start, &step, 100, out.data());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(out[i], start + static_cast<float>(i) * step);
  const std::int8_t from = 120, by = 5;
  std::vector<std::int8_t> wrapped(3);
  iota(int8, &from, &by, 3, wrapped.data());
  EXPECT_EQ(wrapped, (std::vector<std::int8_t>{120, 125, -126}));
  const half h(1.0f), d(-0.5f);
  half halves[4];
  iota(float16, &h, &d, 4, halves);
  EXPECT_EQ(static_cast<float>(halves[3]), -0.5f);
}

}  // namespace
}  // namespace gradus::kernels
