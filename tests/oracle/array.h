// Arrays of the oracle's numbers, and the loops over positions that its ops are written with.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "oracle/nilpotent.h"

namespace oracle {

using Size = std::int64_t;
using Dims = std::vector<Size>;

inline Size count(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), Size{1}, std::multiplies<>());
}
inline std::size_t index(Size i) { return static_cast<std::size_t>(i); }

// The place of a position in row-major order.
inline Size flat(const Dims& dims, const Dims& at) {
  Size place = 0;
  for (std::size_t a = 0; a < dims.size(); ++a) place = place * dims[a] + at[a];
  return place;
}
// f(position) for all positions, in row-major order.
template <class F>
void for_each_position(const Dims& dims, F f) {
  Dims at(dims.size());
  for (Size i = 0; i < count(dims); ++i) {
    Size rest = i;
    for (std::size_t a = dims.size(); a-- > 0; rest /= dims[a]) at[a] = rest % dims[a];
    f(std::as_const(at));
  }
}

template <class S>
struct Array {
  Dims dims;
  std::vector<S> data;

  Array() = default;
  explicit Array(Dims d, const S& fill = S(0))
      : dims(std::move(d)), data(index(count(dims)), fill) {}

  S& operator[](Size i) { return data[index(i)]; }
  const S& operator[](Size i) const { return data[index(i)]; }
  S& at(const Dims& position) { return (*this)[flat(dims, position)]; }
  const S& at(const Dims& position) const { return (*this)[flat(dims, position)]; }
  Size size() const { return static_cast<Size>(data.size()); }
  Size rank() const { return static_cast<Size>(dims.size()); }
  Size last() const { return dims.back(); }
};
using Reals = Array<Nil>;
using Complexes = Array<Complex>;
using Value = std::variant<Reals, Complexes>;

inline const Dims& dims_of(const Value& v) {
  return std::visit([](const auto& a) -> const Dims& { return a.dims; }, v);
}
inline bool is_complex(const Value& v) { return v.index() == 1; }

// Elements of `in` moved: source(position) is the place that each one comes from; < 0 gives 0.
template <class S, class F>
Array<S> moved(const Array<S>& in, const Dims& dims, F source) {
  Array<S> out(dims);
  Size i = 0;
  for_each_position(dims, [&](const Dims& at) {
    const Size from = source(at);
    if (from >= 0) out[i] = in[from];
    ++i;
  });
  return out;
}
template <class S>
Array<S> reshaped(Array<S> in, const Dims& dims) {
  in.dims = dims;
  return in;
}

inline Dims broadcast(const Dims& a, const Dims& b) {
  Dims out = a.size() < b.size() ? b : a;
  const Dims& other = a.size() < b.size() ? a : b;
  for (std::size_t i = 0; i < other.size(); ++i) {
    Size& size = out[out.size() - other.size() + i];
    if (size == 1) size = other[i];
  }
  return out;
}
// The place in an array of `dims` that broadcasts to a position of a larger one.
inline Size place_in(const Dims& dims, const Dims& at) {
  Size place = 0;
  for (std::size_t a = 0; a < dims.size(); ++a)
    place = place * dims[a] + (dims[a] == 1 ? 0 : at[at.size() - dims.size() + a]);
  return place;
}

template <class S, class F>
auto map(const Array<S>& x, F f) {
  Array<decltype(f(x.data[0]))> out(x.dims);
  for (Size i = 0; i < x.size(); ++i) out[i] = f(x[i]);
  return out;
}
template <class S, class T, class F>
auto map(const Array<S>& x, const Array<T>& y, F f) {
  Array<decltype(f(x.data[0], y.data[0]))> out(broadcast(x.dims, y.dims));
  Size i = 0;
  for_each_position(out.dims, [&](const Dims& at) {
    out[i++] = f(x[place_in(x.dims, at)], y[place_in(y.dims, at)]);
  });
  return out;
}

// f(elements) for each group that a reduction over `axes` takes together, in row-major order.
template <class S, class F>
Array<S> reduced(const Array<S>& x, const Dims& axes, bool keepdims, F f) {
  Dims kept = x.dims, out_dims;
  for (Size a : axes) kept[index(a)] = 1;
  for (std::size_t a = 0; a < x.dims.size(); ++a)
    if (keepdims || std::find(axes.begin(), axes.end(), static_cast<Size>(a)) == axes.end())
      out_dims.push_back(kept[a]);
  std::vector<std::vector<S>> groups(index(count(kept)));
  Size i = 0;
  for_each_position(x.dims,
                    [&](const Dims& at) { groups[index(place_in(kept, at))].push_back(x[i++]); });
  Array<S> out(out_dims);
  for (Size g = 0; g < out.size(); ++g) out[g] = f(groups[index(g)]);
  return out;
}

// f(row) for each row along an axis: a function from a vector of numbers to one.
template <class S, class F>
Array<S> along(const Array<S>& x, Size axis, Size out_size, F f) {
  Dims dims = x.dims;
  dims[index(axis)] = out_size;
  Array<S> out(dims);
  Dims rows = x.dims;
  rows[index(axis)] = 1;
  for_each_position(rows, [&](const Dims& first) {
    Dims at = first;
    std::vector<S> row;
    for (at[index(axis)] = 0; at[index(axis)] < x.dims[index(axis)]; ++at[index(axis)])
      row.push_back(x.at(at));
    const std::vector<S> result = f(row);
    for (Size i = 0; i < out_size; ++i) {
      at[index(axis)] = i;
      out.at(at) = result[index(i)];
    }
  });
  return out;
}

inline Dims all_axes(const Dims& dims) {
  Dims axes(dims.size());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// Parts joined along an axis.
template <class S>
Array<S> joined(const std::vector<Array<S>>& parts, Size axis) {
  Dims dims = parts[0].dims;
  dims[index(axis)] = 0;
  for (const auto& p : parts) dims[index(axis)] += p.dims[index(axis)];
  Array<S> out(dims);
  Size i = 0;
  for_each_position(dims, [&](const Dims& position) {
    Dims at = position;
    std::size_t p = 0;
    while (at[index(axis)] >= parts[p].dims[index(axis)])
      at[index(axis)] -= parts[p++].dims[index(axis)];
    out[i++] = parts[p].at(at);
  });
  return out;
}

}  // namespace oracle
