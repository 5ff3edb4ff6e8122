// Sorting the rows of a [rows, n] array of any real type.
//
// NaN comes last in both directions (TensorFlow leaves its place open), so that it never hides the
// largest values from top_k. Equal elements keep their order; 0 and -0 are equal.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

enum class Direction : std::uint8_t { ascending, descending };

// Either output may be null: the sorted values, and where they were. n < 2^31.
void sort(Direction direction, DType t, const void* in, std::int64_t rows, std::int64_t n,
          void* values, std::int32_t* positions);

// The k largest of each row, largest first, the one at the lower position first among equals.
void top_k(DType t, const void* in, std::int64_t rows, std::int64_t n, std::int64_t k, void* values,
           std::int32_t* positions);

// For each of the m values of a row, how many elements of the sorted row are below it (left) or not
// above it (right), as int32 or int64.
enum class Side : std::uint8_t { left, right };
void search_sorted(Side side, DType t, const void* sorted, std::int64_t rows, std::int64_t n,
                   const void* values, std::int64_t m, DType index_type, void* out);

}  // namespace gradus::kernels
