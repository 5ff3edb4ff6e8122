// Ops that move elements: where each one comes from.
#include "oracle/program.h"

namespace oracle {
namespace {

// A value of rank 1 or more.
int with_axes(Maker& m, bool real = false) {
  const int x = real ? m.any_real() : m.any();
  return m.dims(x).empty() ? m.fitted(x, {m.between(1, 3)}) : x;
}
Size any_axis(Maker& m, int x) { return static_cast<Size>(m.below(m.dims(x).size())); }
int axis_of(const Node& n) { return static_cast<int>(n.ints[0]); }
Size modulo(Size a, Size n) { return ((a % n) + n) % n; }

// Another operand of the kind of x.
int like(Maker& m, int x, const Dims& dims) {
  return m.fitted(m.any([&](const Value& v) { return is_complex(v) == is_complex(m.value(x)); }),
                  dims);
}

void add_shapes(Table& t) {
  t.push_back(
      {"reshape",
       [](Maker& m, Node& n) {
         n.in = {m.any()};
         const Dims& dims = m.dims(n.in[0]);
         const Size size = count(dims);
         n.ints = size % 2 == 0 && m.coin() ? Dims{size / 2, 2} : Dims{size};
         if (m.coin()) n.ints = Dims(dims.rbegin(), dims.rend());
         if (m.coin()) n.ints.insert(n.ints.begin(), 1);
         return true;
       },
       [](const Node& n, const Tensors& in) { return gd::reshape(in[0], to_shape(n.ints)); },
       with_one_kind([](const Node& n, const auto& in) { return reshaped(in[0], n.ints); })});
  t.push_back(
      {"broadcast_to",
       [](Maker& m, Node& n) {
         n.in = {m.any()};
         n.ints = m.dims(n.in[0]);
         for (Size& d : n.ints)
           if (d == 1) d = m.between(1, 3);
         if (n.ints.size() < 3) n.ints.insert(n.ints.begin(), m.between(1, 2));
         return count(n.ints) <= 24;
       },
       [](const Node& n, const Tensors& in) { return gd::broadcast_to(in[0], to_shape(n.ints)); },
       with_one_kind([](const Node& n, const auto& in) {
         return moved(in[0], n.ints, [&](const Dims& at) { return place_in(in[0].dims, at); });
       })});
  t.push_back(
      {"transpose",
       [](Maker& m, Node& n) {
         n.in = {with_axes(m)};
         n.ints = all_axes(m.dims(n.in[0]));
         for (std::size_t i = n.ints.size(); i > 1; --i)
           std::swap(n.ints[i - 1], n.ints[m.below(i)]);
         return true;
       },
       [](const Node& n, const Tensors& in) { return gd::transpose(in[0], to_shape(n.ints)); },
       with_one_kind([](const Node& n, const auto& in) {
         Dims dims;
         for (Size a : n.ints) dims.push_back(in[0].dims[index(a)]);
         return moved(in[0], dims, [&](const Dims& at) {
           Dims from(at.size());
           for (std::size_t i = 0; i < at.size(); ++i) from[index(n.ints[i])] = at[i];
           return flat(in[0].dims, from);
         });
       })});
  t.push_back({"expand_and_squeeze",
               [](Maker& m, Node& n) {
                 n.in = {with_axes(m)};
                 n.ints = {any_axis(m, n.in[0])};
                 return m.dims(n.in[0]).size() < 4;
               },
               [](const Node& n, const Tensors& in) {
                 return gd::expand_dims(gd::squeeze(in[0]), 0) +
                        gd::squeeze(gd::expand_dims(in[0], axis_of(n)));
               },
               with_one_kind([](const Node&, const auto& in) {
                 Dims dims;
                 for (Size d : in[0].dims)
                   if (d != 1) dims.push_back(d);
                 auto out = reshaped(in[0], dims);
                 for (auto& z : out.data) z += z;
                 out.dims.insert(out.dims.begin(), 1);
                 return out;
               })});
}

void add_joins(Table& t) {
  t.push_back({"concat",
               [](Maker& m, Node& n) {
                 const int x = with_axes(m);
                 n.ints = {any_axis(m, x)};
                 n.in = {x};
                 for (std::size_t more = 1 + m.below(2); more > 0; --more) {
                   Dims dims = m.dims(x);
                   dims[index(n.ints[0])] = m.between(1, 2);
                   n.in.push_back(m.coin() ? x : like(m, x, dims));
                 }
                 return true;
               },
               [](const Node& n, const Tensors& in) { return gd::concat(in, axis_of(n)); },
               with_one_kind([](const Node& n, const auto& in) { return joined(in, n.ints[0]); })});
  t.push_back({"stack",
               [](Maker& m, Node& n) {
                 const int x = m.any();
                 n.in = {x, like(m, x, m.dims(x))};
                 n.ints = {m.between(0, static_cast<Size>(m.dims(x).size()))};
                 return m.dims(x).size() < 4;
               },
               [](const Node& n, const Tensors& in) { return gd::stack(in, axis_of(n)); },
               with_one_kind([](const Node& n, const auto& in) {
                 auto parts = in;
                 for (auto& p : parts) p.dims.insert(p.dims.begin() + n.ints[0], 1);
                 return joined(parts, n.ints[0]);
               })});
  t.push_back({"add_n",
               [](Maker& m, Node& n) {
                 const int x = m.any();
                 n.in = {x, like(m, x, m.dims(x)), x};
                 return true;
               },
               [](const Node&, const Tensors& in) { return gd::add_n(in); },
               with_one_kind([](const Node&, const auto& in) {
                 auto sum = in[0];
                 for (std::size_t p = 1; p < in.size(); ++p)
                   for (Size i = 0; i < sum.size(); ++i) sum[i] += in[p][i];
                 return sum;
               })});
}

template <class S>
Array<S> part_of(const Array<S>& x, Size axis, Size begin, Size size) {
  Dims dims = x.dims;
  dims[index(axis)] = size;
  return moved(x, dims, [&](const Dims& position) {
    Dims at = position;
    at[index(axis)] += begin;
    return flat(x.dims, at);
  });
}

void add_splits(Table& t) {
  // ints: axis, which part (-1: all), sizes
  t.push_back({"split",
               [](Maker& m, Node& n) {
                 n.in = {with_axes(m)};
                 const Size axis = any_axis(m, n.in[0]);
                 const Size size = m.dims(n.in[0])[index(axis)], first = m.between(0, size);
                 n.ints = {axis, m.between(-1, 1), first, size - first};
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 return pick(gd::split(in[0], {n.ints[2], n.ints[3]}, axis_of(n)), n.ints[1]);
               },
               with_one_kind([](const Node& n, const auto& in) {
                 return pick(std::vector{part_of(in[0], n.ints[0], 0, n.ints[2]),
                                         part_of(in[0], n.ints[0], n.ints[2], n.ints[3])},
                             n.ints[1]);
               })});
  t.push_back({"unstack",
               [](Maker& m, Node& n) {
                 n.in = {with_axes(m)};
                 n.ints = {any_axis(m, n.in[0]), 0};
                 n.ints[1] = m.between(-1, m.dims(n.in[0])[index(n.ints[0])] - 1);
                 return m.dims(n.in[0])[index(n.ints[0])] > 0;
               },
               [](const Node& n, const Tensors& in) {
                 return pick(gd::unstack(in[0], axis_of(n)), n.ints[1]);
               },
               with_one_kind([](const Node& n, const auto& in) {
                 std::remove_cvref_t<decltype(in)> parts;
                 for (Size i = 0; i < in[0].dims[index(n.ints[0])]; ++i) {
                   parts.push_back(part_of(in[0], n.ints[0], i, 1));
                   parts.back().dims.erase(parts.back().dims.begin() + n.ints[0]);
                 }
                 return pick(parts, n.ints[1]);
               })});
}

void add_repeats(Table& t) {
  t.push_back({"tile",
               [](Maker& m, Node& n) {
                 n.in = {with_axes(m)};
                 for (Size d : m.dims(n.in[0])) n.ints.push_back(d < 3 ? m.between(1, 2) : 1);
                 return true;
               },
               [](const Node& n, const Tensors& in) { return gd::tile(in[0], to_shape(n.ints)); },
               with_one_kind([](const Node& n, const auto& in) {
                 Dims dims = in[0].dims;
                 for (std::size_t a = 0; a < dims.size(); ++a) dims[a] *= n.ints[a];
                 return moved(in[0], dims, [&](const Dims& position) {
                   Dims at = position;
                   for (std::size_t a = 0; a < at.size(); ++a) at[a] %= in[0].dims[a];
                   return flat(in[0].dims, at);
                 });
               })});
  // ints: axis, how often each
  t.push_back({"repeat",
               [](Maker& m, Node& n) {
                 n.in = {with_axes(m)};
                 n.ints = {any_axis(m, n.in[0])};
                 for (Size i = 0; i < m.dims(n.in[0])[index(n.ints[0])]; ++i)
                   n.ints.push_back(m.between(0, 2));
                 if (n.ints.size() == 1) return false;  // nothing to repeat
                 n.ints.back() = 1;
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 return gd::repeat(in[0], std::vector(n.ints.begin() + 1, n.ints.end()),
                                   axis_of(n));
               },
               with_one_kind([](const Node& n, const auto& in) {
                 Dims from, dims = in[0].dims;
                 for (std::size_t i = 1; i < n.ints.size(); ++i)
                   from.insert(from.end(), index(n.ints[i]), static_cast<Size>(i) - 1);
                 dims[index(n.ints[0])] = static_cast<Size>(from.size());
                 return moved(in[0], dims, [&](const Dims& position) {
                   Dims at = position;
                   at[index(n.ints[0])] = from[index(at[index(n.ints[0])])];
                   return flat(in[0].dims, at);
                 });
               })});
}

void add_orders(Table& t) {
  const auto one_axis = [](Maker& m, Node& n) {
    n.in = {with_axes(m)};
    n.ints = {any_axis(m, n.in[0]), m.between(-2, 2)};
    return true;
  };
  t.push_back({"reverse", one_axis,
               [](const Node& n, const Tensors& in) { return gd::reverse(in[0], {n.ints[0]}); },
               with_one_kind([](const Node& n, const auto& in) {
                 return moved(in[0], in[0].dims, [&](const Dims& position) {
                   Dims at = position;
                   at[index(n.ints[0])] = in[0].dims[index(n.ints[0])] - 1 - at[index(n.ints[0])];
                   return flat(in[0].dims, at);
                 });
               })});
  t.push_back(
      {"roll", one_axis,
       [](const Node& n, const Tensors& in) { return gd::roll(in[0], {n.ints[1]}, {n.ints[0]}); },
       with_one_kind([](const Node& n, const auto& in) {
         return moved(in[0], in[0].dims, [&](const Dims& position) {
           Dims at = position;
           Size& i = at[index(n.ints[0])];
           i = modulo(i - n.ints[1], in[0].dims[index(n.ints[0])]);
           return flat(in[0].dims, at);
         });
       })});
  t.push_back({"reverse_sequence",
               [](Maker& m, Node& n) {
                 n.in = {m.of({2, 3})};
                 n.ints = {m.between(0, 3), m.between(0, 3)};
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 return gd::reverse_sequence(in[0], indices({2}, n.ints), 1, 0);
               },
               with_one_kind([](const Node& n, const auto& in) {
                 return moved(in[0], in[0].dims, [&](const Dims& at) {
                   const Size length = n.ints[index(at[0])];
                   return at[0] * 3 + (at[1] < length ? length - 1 - at[1] : at[1]);
                 });
               })});
}

// ints: before and after for each axis, then the mode.
bool make_pad(Maker& m, Node& n) {
  n.in = {with_axes(m)};
  const Size mode = m.between(0, 2);
  for (Size d : m.dims(n.in[0]))
    for (int side = 0; side < 2; ++side)
      n.ints.push_back(m.between(0, std::min<Size>(mode == 1 ? d - 1 : d, 2)));
  n.ints.push_back(mode);
  return m.dims(n.in[0]).size() < 4;
}
gd::Paddings paddings(const Node& n) {
  gd::Paddings result;
  for (std::size_t i = 0; i + 1 < n.ints.size(); i += 2)
    result.emplace_back(n.ints[i], n.ints[i + 1]);
  return result;
}
template <class S>
Array<S> padded(const Node& n, const Array<S>& x, const S& border) {
  Dims dims = x.dims;
  for (std::size_t a = 0; a < dims.size(); ++a) dims[a] += n.ints[2 * a] + n.ints[2 * a + 1];
  const Size mode = n.ints.back();
  Array<S> out(dims);
  Size i = 0;
  for_each_position(dims, [&](const Dims& position) {
    Dims at = position;
    bool inside = true;
    for (std::size_t a = 0; a < at.size(); ++a) {
      const Size size = x.dims[a], edge = mode == 1 ? 1 : 0;
      at[a] -= n.ints[2 * a];
      if (at[a] >= 0 && at[a] < size) continue;
      inside = inside && mode != 0;
      at[a] = at[a] < 0 ? -at[a] - 1 + edge : 2 * size - 1 - at[a] - edge;
    }
    out[i++] = inside ? x.at(at) : border;
  });
  return out;
}

void add_pads(Table& t) {
  t.push_back({"pad", make_pad,
               [](const Node& n, const Tensors& in) {
                 return gd::pad(in[0], paddings(n), static_cast<gd::PadMode>(n.ints.back()));
               },
               with_one_kind([](const Node& n, const auto& in) {
                 return padded(n, in[0], std::remove_cvref_t<decltype(in[0].data[0])>(0));
               })});
  t.push_back(
      {"pad_with",
       [](Maker& m, Node& n) {
         const bool made = make_pad(m, n);
         n.ints.back() = 0;
         n.in.push_back(like(m, n.in[0], {}));
         return made;
       },
       [](const Node& n, const Tensors& in) {
         return gd::pad(in[0], paddings(n), gd::PadMode::constant, in[1]);
       },
       with_one_kind([](const Node& n, const auto& in) { return padded(n, in[0], in[1][0]); })});
}

// ints: for each axis where it begins, its step and how many there are.
void add_slices(Table& t) {
  const auto make = [](Maker& m, Node& n, bool steps) {
    n.in = {with_axes(m)};
    for (Size d : m.dims(n.in[0])) {
      const Size begin = m.between(0, d - 1), step = steps ? m.one_of<Size>({1, 2, -1, -2}) : 1;
      const Size most = step > 0 ? (d - begin + step - 1) / step : (begin - step) / -step;
      n.ints.insert(n.ints.end(), {begin, step, m.between(1, most)});
    }
    return true;
  };
  const auto oracle = with_one_kind([](const Node& n, const auto& in) {
    Dims dims;
    for (std::size_t a = 0; a < in[0].dims.size(); ++a) dims.push_back(n.ints[3 * a + 2]);
    return moved(in[0], dims, [&](const Dims& position) {
      Dims at = position;
      for (std::size_t a = 0; a < at.size(); ++a) at[a] = n.ints[3 * a] + at[a] * n.ints[3 * a + 1];
      return flat(in[0].dims, at);
    });
  });
  t.push_back({"slice", [make](Maker& m, Node& n) { return make(m, n, false); },
               [](const Node& n, const Tensors& in) {
                 gd::Shape begin, size;
                 for (std::size_t i = 0; i < n.ints.size(); i += 3) {
                   begin.push_back(n.ints[i]);
                   size.push_back(n.ints[i + 2]);
                 }
                 return gd::slice(in[0], begin, size);
               },
               oracle});
  t.push_back({"strided_slice", [make](Maker& m, Node& n) { return make(m, n, true); },
               [](const Node& n, const Tensors& in) {
                 std::vector<gd::Index> entries;
                 for (std::size_t i = 0; i < n.ints.size(); i += 3) {
                   const Size end = n.ints[i] + n.ints[i + 1] * n.ints[i + 2];
                   gd::Slice s{.begin = n.ints[i], .end = {}, .step = n.ints[i + 1]};
                   if (end >= 0) s.end = end;
                   entries.emplace_back(s);
                 }
                 return gd::index(in[0], entries);
               },
               oracle});
}

}  // namespace

void add_shaping(Table& table) {
  add_shapes(table);
  add_joins(table);
  add_splits(table);
  add_repeats(table);
  add_orders(table);
  add_pads(table);
  add_slices(table);
}

}  // namespace oracle
