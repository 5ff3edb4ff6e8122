// tf.linalg.diag, diag_part and set_diag: bands of diagonals.
//
// One diagonal without a padding value is an op of the engine. A band [k_low, k_high] is packed: a
// row for each diagonal, the highest first, as long as the longest one; shorter ones are aligned to
// the left or to the right. Whichever way the numbers go, each element of the result comes from one
// place or from none, and these places depend on sizes only: so a band is one gather with a table
// of places, and a choice between what it found and the padding value.
#include <algorithm>

#include "function.h"
#include "gradus/error.h"
#include "gradus/ops.h"
#include "gradus/tracing.h"

namespace gradus::python {
namespace {

struct Band {
  std::int64_t low, high;         // the diagonals, 0 is the main one
  bool upper_right, lower_right;  // how short diagonals are aligned

  std::int64_t count() const { return high - low + 1; }
  // How many elements diagonal d of a matrix has.
  static std::int64_t length(std::int64_t d, std::int64_t rows, std::int64_t columns) {
    return std::min(rows + std::min<std::int64_t>(d, 0), columns - std::max<std::int64_t>(d, 0));
  }
  std::int64_t longest(std::int64_t rows, std::int64_t columns) const {
    return std::min(rows + std::min<std::int64_t>(high, 0),
                    columns - std::max<std::int64_t>(low, 0));
  }
  // Where the first element of diagonal d is in its packed row.
  std::int64_t offset(std::int64_t d, std::int64_t rows, std::int64_t columns) const {
    const bool right = (d >= 0 && upper_right) || (d <= 0 && lower_right);
    return right ? longest(rows, columns) - length(d, rows, columns) : 0;
  }
};

Band band_of(const Arguments& a, int k, int align, const char* op) {
  const std::vector<std::int64_t> ends = a.integers(k);
  const std::string how = a.string(align);
  if (ends.empty() || ends.size() > 2 || ends.front() > ends.back())
    throw InvalidArgumentError(std::string("[") + op +
                               "] k must be one number, or the lowest and the highest diagonal");
  if (how != "RIGHT_LEFT" && how != "LEFT_RIGHT" && how != "LEFT_LEFT" && how != "RIGHT_RIGHT")
    throw InvalidArgumentError(std::string("[") + op + "] got align '" + how +
                               "'; expected RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT or RIGHT_RIGHT");
  return {ends.front(), ends.back(), how.starts_with("RIGHT"), how.ends_with("RIGHT")};
}

// Elements of the last `merged` axes of x at places[i, j], and the other value where that is -1.
Tensor chosen(const Tensor& x, int merged, const std::vector<std::int64_t>& places,
              const Shape& shape, const Tensor& otherwise) {
  Shape flat;
  std::int64_t size = 1;
  for (int i = 0; i < x.rank(); ++i) {
    if (i < x.rank() - merged)
      flat.push_back(x.shape()[i]);
    else
      size *= x.shape()[i];
  }
  flat.push_back(size);
  std::vector<std::int64_t> indices(places);
  for (std::int64_t& i : indices) i = std::max<std::int64_t>(i, 0);
  const auto as_tensor = [&](const std::vector<std::int64_t>& values) {
    return Tensor::filled_by(int64, shape, [&](void* to) {
      std::copy(values.begin(), values.end(), static_cast<std::int64_t*>(to));
    });
  };
  const Tensor found = gather(reshape(x, flat), as_tensor(indices), -1);
  return where(greater_equal(as_tensor(places), zeros({}, int64)), found, otherwise);
}

// For each element of a matrix, its place in the packed band, or -1.
std::vector<std::int64_t> places_in_band(const Band& band, std::int64_t rows, std::int64_t columns,
                                         std::int64_t width) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t d = j - i;
      const std::int64_t at = std::min(i, j) + band.offset(d, rows, columns);
      places.push_back(d < band.low || d > band.high ? -1 : (band.high - d) * width + at);
    }
  return places;
}

void check_known(const Shape& shape, int axes, const char* op) {
  for (int i = shape.rank() - axes; i < shape.rank(); ++i)
    if (i < 0 || !shape[i].is_known())
      throw InvalidArgumentError(std::string("[") + op + "] got shape " + gradus::to_string(shape) +
                                 "; the sizes of its last " + std::to_string(axes) +
                                 " axes must be known here");
}

PyObject* from_diagonals(const Arguments& a) {
  const Tensor diagonal = a.tensor(0);
  const Tensor padding = a.tensor(5, diagonal.dtype());
  const Band band = band_of(a, 2, 6, "diag");
  std::int64_t rows = a.integer(3), columns = a.integer(4);
  const bool plain = a[5] == Py_None || (PyLong_Check(a[5]) && to_int(a[5]) == 0);
  if (band.count() == 1 && plain) return wrap(linalg::diag(diagonal, band.low, rows, columns));

  const int packed = band.count() == 1 ? 1 : 2;
  check_known(diagonal.shape(), packed, "diag");
  const std::int64_t width = diagonal.shape()[diagonal.rank() - 1];
  if (packed == 2 && diagonal.shape()[diagonal.rank() - 2] != band.count())
    throw InvalidArgumentError("[diag] got " + gradus::to_string(diagonal.shape()) + " for " +
                               std::to_string(band.count()) + " diagonals");
  const std::int64_t least_rows = width - std::min<std::int64_t>(band.high, 0);
  const std::int64_t least_columns = width + std::max<std::int64_t>(band.low, 0);
  if (rows == -1 && columns == -1)
    rows = columns = std::max(least_rows, least_columns);
  else if (rows == -1)
    rows = least_rows;
  else if (columns == -1)
    columns = least_columns;
  if (rows < least_rows || columns < least_columns ||
      (rows != least_rows && columns != least_columns))
    throw InvalidArgumentError("[diag] diagonals of " + std::to_string(width) +
                               " elements do not fit a matrix of " + std::to_string(rows) + " by " +
                               std::to_string(columns));
  return wrap(chosen(diagonal, packed, places_in_band(band, rows, columns, width), {rows, columns},
                     padding));
}

PyObject* to_diagonals(const Arguments& a) {
  const Tensor x = a.tensor(0);
  const Tensor padding = a.tensor(3, x.dtype());
  const Band band = band_of(a, 2, 4, "diag_part");
  if (band.count() == 1) return wrap(linalg::diag_part(x, band.low));  // there is nothing to pad
  check_known(x.shape(), 2, "diag_part");
  const std::int64_t rows = x.shape()[x.rank() - 2], columns = x.shape()[x.rank() - 1];
  if (band.low <= -rows || band.high >= columns)
    throw InvalidArgumentError("[diag_part] a matrix of " + std::to_string(rows) + " by " +
                               std::to_string(columns) + " has no such diagonals");
  const std::int64_t width = band.longest(rows, columns);
  std::vector<std::int64_t> places;
  for (std::int64_t d = band.high; d >= band.low; --d)
    for (std::int64_t n = 0; n < width; ++n) {
      const std::int64_t at = n - band.offset(d, rows, columns);
      const bool inside = at >= 0 && at < Band::length(d, rows, columns);
      const std::int64_t i = at - std::min<std::int64_t>(d, 0),
                         j = at + std::max<std::int64_t>(d, 0);
      places.push_back(inside ? i * columns + j : -1);
    }
  return wrap(chosen(x, 2, places, {band.count(), width}, padding));
}

PyObject* with_diagonals(const Arguments& a) {
  const Tensor x = a.tensor(0);
  const Tensor diagonal = a.tensor(1, x.dtype());
  const Band band = band_of(a, 3, 4, "set_diag");
  if (band.count() == 1) return wrap(linalg::set_diag(x, diagonal, band.low));
  check_known(x.shape(), 2, "set_diag");
  check_known(diagonal.shape(), 2, "set_diag");
  const std::int64_t rows = x.shape()[x.rank() - 2], columns = x.shape()[x.rank() - 1];
  const std::int64_t width = band.longest(rows, columns);
  if (diagonal.rank() != x.rank() || diagonal.shape()[diagonal.rank() - 2] != band.count() ||
      diagonal.shape()[diagonal.rank() - 1] != width)
    throw InvalidArgumentError("[set_diag] got diagonals of shape " +
                               gradus::to_string(diagonal.shape()) + " for matrices of shape " +
                               gradus::to_string(x.shape()) + "; expected " +
                               std::to_string(band.count()) + " by " + std::to_string(width));
  return wrap(chosen(diagonal, 2, places_in_band(band, rows, columns, width), {rows, columns}, x));
}

const FunctionEntry entries[] = {
    {"linalg.diag",
     "diagonal, name='diag', k=0, num_rows=-1, num_cols=-1, padding_value=0, align='RIGHT_LEFT'",
     "Matrices with given diagonals.", from_diagonals},
    {"linalg.diag_part", "input, name='diag_part', k=0, padding_value=0, align='RIGHT_LEFT'",
     "The diagonals.", to_diagonals},
    {"linalg.set_diag", "input, diagonal, name='set_diag', k=0, align='RIGHT_LEFT'",
     "Other diagonals.", with_diagonals},
};

}  // namespace

void add_diagonal_functions() { add_functions(entries); }

}  // namespace gradus::python
