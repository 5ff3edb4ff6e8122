// Making, shaping and indexing tensors.
#include <cstring>

#include "function.h"
#include "gradus/error.h"
#include "gradus/ops.h"
#include "gradus/tracing.h"

namespace gradus::python {
namespace {

PyObject* constant(const Arguments& a) {
  const std::optional<DType> dtype = a.dtype(1);
  if (is_rows(a[0]))
    raise(PyExc_ValueError, "tf.constant got IndexedSlices; use tf.convert_to_tensor for them");
  if (dtype && is_tensor(a[0]) && tensor_of(a[0]).dtype() != *dtype)
    raise(PyExc_TypeError, "Expected tensor %S with dtype %S, but got dtype %S.", a[0], a[1],
          Ref::own(wrap(tensor_of(a[0]).dtype())).get());
  Tensor t = to_tensor(a[0], dtype);
  if (a.is_none(2)) return wrap(t);
  const Shape shape = a.shape(2);
  if (t.shape() == shape) return wrap(t);
  if (t.num_elements() == shape.num_elements()) return wrap(reshape(t, shape));
  if (t.num_elements() == 1) return wrap(fill(shape, reshape(t, {})));
  raise(PyExc_TypeError,
        "Eager execution of tf.constant with unsupported shape. The tensor has %lld elements, but "
        "got `shape` %s with %lld elements.",
        static_cast<long long>(t.num_elements()), gradus::to_string(shape).c_str(),
        static_cast<long long>(shape.num_elements()));
}

PyObject* convert(const Arguments& a) {
  const std::optional<DType> dtype = a.dtype(1), hint = a.dtype(2);
  if (is_tensor(a[0]) && (!dtype || *dtype == tensor_of(a[0]).dtype()))
    return Ref::copy(a[0]).release();
  if (dtype || !hint) return wrap(to_tensor(a[0], dtype));
  try {
    return wrap(to_tensor(a[0], hint, Wanted::hint));
  } catch (const PythonError&) {  // a hint that does not fit is no hint
    PyErr_Clear();
    return wrap(to_tensor(a[0]));
  }
}

// Makes a tensor, without the GIL where that pays.
template <class F>
Tensor made(const Shape& shape, F&& f) {
  std::int64_t count = 1;
  for (const Size n : shape) {
    if (!n.is_known() || n < 0) return f();
    count = std::min(count * std::min<std::int64_t>(n, kManyElements), kManyElements);
  }
  return count >= kManyElements ? long_work(f) : f();
}

Tensor filled(const Shape& shape, DType dtype, bool one) {
  for (const Size size : shape)
    if (size.is_known() && size < 0)
      throw InvalidArgumentError("[fill] Dimension " + gradus::to_string(size) + " must be >= 0");
  return made(shape, [&] { return one ? ones(shape, dtype) : zeros(shape, dtype); });
}

PyObject* like(const Arguments& a, bool one) {
  const Tensor x = a.tensor(0);  // its sizes may be symbols
  const DType dtype = a.dtype(1, x.dtype());
  return wrap(
      made(x.shape(), [&] { return one ? ones(x.shape(), dtype) : zeros(x.shape(), dtype); }));
}

// range(limit), range(start, limit[, delta]): one dtype that holds all of them.
PyObject* make_range(const Arguments& a) {
  const bool limit_only = a.is_none(1);
  const std::optional<DType> wanted = a.dtype(3);  // numbers are not rounded to another one first
  Tensor in[3] = {limit_only ? Tensor(0) : a.tensor(0, wanted),
                  a.tensor(limit_only ? 0 : 1, wanted), a.tensor(2, wanted)};
  DType dtype = int32;
  if (wanted) {
    dtype = *wanted;
  } else {
    static constexpr DType order[] = {int32, int64, float16, bfloat16, float32, float64};
    for (DType candidate : order)
      for (const Tensor& t : in)
        if (t.dtype() == candidate) dtype = candidate;
  }
  if (limit_only && !has_value(in[1]) && has_value(in[2]) && in[1].rank() == 0) {
    const auto count = sizes_in(in[1]);  // range(shape(x)[0]) has a size that the program knows
    if (count && cast(in[2], float64).item<double>() == 1) return wrap(iota((*count)[0], dtype));
  }
  for (Tensor& t : in) t = t.dtype() == dtype ? t : cast(t, dtype);
  return wrap(range(in[0], in[1], in[2]));
}

PyObject* join(const Arguments& a) {
  std::vector<Tensor> parts =
      is_tensor(a[0]) ? std::vector{tensor_of(a[0])} : a.tensors(0, "concat");
  if (parts.empty()) raise(PyExc_ValueError, "concat needs at least one tensor");
  std::int64_t count = 0;
  for (const Tensor& t : parts) count += elements_now(t);
  const int axis = a.small(1);
  if (parts.size() == 1) return wrap(parts[0]);
  return wrap(count >= kManyElements ? long_work([&] { return concat(parts, axis); })
                                     : concat(parts, axis));
}

PyObject* stack_up(const Arguments& a) {
  const std::vector<Tensor> parts = a.tensors(0, "stack");
  if (parts.empty()) raise(PyExc_ValueError, "stack needs at least one tensor");
  return wrap(stack(parts, a.small(1)));
}

PyObject* divide_up(const Arguments& a) {
  const Tensor x = a.tensor(0);
  const int axis = a.small(2);
  const std::optional<std::int64_t> num = a.integer_or_none(3);
  const bool one = PyLong_Check(a[1]) || is_size(a[1]) ||
                   ((is_tensor(a[1]) || is_variable(a[1])) && a.tensor(1).rank() == 0);
  if (one) return wrap(split(x, a.small(1), axis));  // which says how many, whatever num says
  const std::vector<Size> sizes = a.sizes(1);
  if (num && *num != static_cast<std::int64_t>(sizes.size()))
    throw InvalidArgumentError("[split] got num " + std::to_string(*num) + " and " +
                               std::to_string(sizes.size()) + " sizes; expected as many");
  return wrap(split(x, sizes, axis));
}

PyObject* squeeze_out(const Arguments& a) {
  const Tensor x = a.tensor(0);
  if (a.is_none(1)) return wrap(squeeze(x));
  const Shape axes = a.shape(1);
  return wrap(axes.rank() == 0 ? squeeze(x) : squeeze(x, axes));
}

PyObject* transposed(const Arguments& a) {
  const Tensor x = a.tensor(0);
  Tensor y = a.is_none(1) ? transpose(x) : transpose(x, a.shape(1));
  return wrap(a.boolean(2) && is_complex(y.dtype()) ? conj(y) : y);
}

PyObject* padded(const Arguments& a) {
  const Tensor x = a.tensor(0), by = a.tensor(1);
  if (by.rank() != 2 || by.shape()[1] != 2)
    throw InvalidArgumentError("[pad] paddings must be a matrix with 2 columns: " +
                               gradus::to_string(by.shape()));
  const std::vector<Size> sizes = found_sizes(reshape(by, {-1}));
  Paddings paddings;
  for (std::size_t i = 0; i < sizes.size(); i += 2) paddings.emplace_back(sizes[i], sizes[i + 1]);
  std::string mode = a.string(2);
  for (char& c : mode) c = static_cast<char>(std::toupper(c));
  if (mode != "CONSTANT" && mode != "REFLECT" && mode != "SYMMETRIC")
    raise(PyExc_ValueError,
          "Value of argument `mode` expected to be one of \"CONSTANT\", "
          "\"REFLECT\", or \"SYMMETRIC\". Received `mode` = %R",
          a[2]);
  const PadMode how = mode == "CONSTANT"  ? PadMode::constant
                      : mode == "REFLECT" ? PadMode::reflect
                                          : PadMode::symmetric;
  return wrap(pad(x, paddings, how, a.tensor(3, x.dtype())));
}

bool is_traced(PyObject* o) { return is_tensor(o) && !has_value(tensor_of(o)); }

PyObject* rolled(const Arguments& a) {
  const Tensor x = a.tensor(0);
  const Tensor shift = a.tensor(1);
  if (has_value(shift)) return wrap(roll(x, a.shape(1), a.shape(2)));
  const Shape axes = a.shape(2);
  const std::vector<Tensor> shifts = shift.rank() == 0 ? std::vector{shift} : unstack(shift);
  if (static_cast<int>(shifts.size()) != axes.rank())
    throw InvalidArgumentError("[roll] got " + std::to_string(shifts.size()) + " shifts for " +
                               std::to_string(axes.rank()) + " axes; expected as many");
  Tensor y = x;
  for (int i = 0; i < axes.rank(); ++i)
    y = roll_by(y, shifts[static_cast<std::size_t>(i)], static_cast<int>(axes[i]));
  return wrap(y);
}

// Each example of a vectorized_map has its own begin: blocks of one size at different places.
Tensor slice_of_example(Tensor x, const Tensor& begin, const Shape& size) {
  if (begin.rank() != 1 || !is_same(begin.shape(), {x.rank()}) || size.rank() != x.rank())
    throw InvalidArgumentError("[slice] begin and size have one number for each axis");
  const std::vector<Tensor> first = unstack(cast(begin, int64));
  for (int axis = 0; axis < x.rank(); ++axis)
    x = gather(x, first[static_cast<std::size_t>(axis)] + iota(size[axis], int64), axis);
  return x;
}

// The -1 of a shape may be among numbers that only the program will know.
PyObject* reshaped(const Arguments& a) {
  const Tensor x = a.tensor(0);
  if (!is_traced(a[1])) return wrap(reshape(x, a.shape(1)));
  const Tensor numbers = cast(a.tensor(1), int64);
  if (numbers.rank() != 1 || sizes_in(numbers)) return wrap(reshape(x, a.shape(1)));
  const auto left = [&] {
    const Tensor given = reduce_prod(where(less(numbers, 0), 1, numbers));
    return floordiv(size(x, int64), maximum(given, 1));
  };
  const std::vector<Size> sizes = found_sizes(
      a.tensor(1), [&](const Tensor& n) { return where(less(n, 0), cast(left(), n.dtype()), n); });
  return wrap(reshape(x, Shape(std::span<const Size>(sizes))));
}

PyObject* sliced(const Arguments& a) {
  const Tensor x = a.tensor(0), begin = PyLong_Check(a[1]) ? Tensor() : a.tensor(1);
  const Shape size = a.shape(2);
  if (begin.defined() && is_example(begin) &&
      std::ranges::none_of(size, [](Size s) { return is_same(s, -1); }))
    return wrap(slice_of_example(x, begin, size));
  return wrap(slice(x, a.shape(1), size));
}

// As x[begin:end:stride, ...], with bounds that only the program will know.
PyObject* sliced_by_tensors(const Arguments& a) {
  const auto mask = [&](int i) { return static_cast<std::uint32_t>(a.integer(i)); };
  const auto parts = [&](int i) { return unstack(a.tensor(i)); };
  const std::vector<Tensor> begin = parts(1), end = parts(2);
  const std::vector<Tensor> strides = a.is_none(3) ? std::vector<Tensor>() : parts(3);
  if (begin.size() != end.size() || (!a.is_none(3) && begin.size() != strides.size()))
    throw InvalidArgumentError("[strided_slice] begin, end and strides have different lengths");
  const Ref key = Ref::own(PyTuple_New(static_cast<Py_ssize_t>(begin.size())));
  for (std::size_t i = 0; i < begin.size(); ++i) {
    const auto has = [&](int argument) { return (mask(argument) >> i & 1) != 0; };
    const auto bound = [&](const std::vector<Tensor>& from, bool is_left_out) {
      return is_left_out || from.empty() ? Ref::copy(Py_None) : Ref::own(wrap(from[i]));
    };
    Ref part = has(6)   ? Ref::copy(Py_Ellipsis)
               : has(7) ? Ref::copy(Py_None)
               : has(8) ? bound(begin, false)
                        : Ref::own(PySlice_New(bound(begin, has(4)), bound(end, has(5)),
                                               bound(strides, false)));
    PyTuple_SET_ITEM(key.get(), static_cast<Py_ssize_t>(i), part.release());
  }
  const Ref x = Ref::own(wrap(a.tensor(0)));
  return PyObject_GetItem(x, key);
}

PyObject* repeated(const Arguments& a) {
  Tensor x = a.tensor(0);
  if (a.is_none(2)) x = reshape(x, {-1});
  const int axis = a.is_none(2) ? 0 : a.small(2);
  if (is_traced(a[1])) return wrap(repeat_each(x, tensor_of(a[1]), axis));
  const std::vector<std::int64_t> repeats = a.integers(1);
  return wrap(repeats.size() == 1 ? repeat(x, repeats[0], axis) : repeat(x, repeats, axis));
}

PyObject* gathered(const Arguments& a) {
  const Tensor params = a.tensor(0), indices = a.tensor(1);
  std::optional<int> axis;
  if (!a.is_none(3)) axis = a.small(3);
  return wrap(on_large(params, indices,
                       [&, dims = a.small(4)] { return gather(params, indices, axis, dims); }));
}

PyObject* hot(const Arguments& a) {
  const Tensor indices = a.tensor(0);
  std::optional<DType> dtype = a.dtype(5);
  for (int i : {2, 3})
    if (!dtype && !a.is_none(i)) dtype = own_dtype(a[i]) ? own_dtype(a[i]) : a.tensor(i).dtype();
  if (!dtype) dtype = float32;
  const Tensor on = a.is_none(2) ? ones({}, *dtype) : a.tensor(2, dtype);
  const Tensor off = a.is_none(3) ? zeros({}, *dtype) : a.tensor(3, dtype);
  return wrap(one_hot(indices, a.size(1), on, off, a.is_none(4) ? -1 : a.small(4)));
}

// Several tables are parts of one, one below the other. Rows may be shortened to a norm.
PyObject* looked_up(const Arguments& a) {
  Tensor table;
  if (PyList_Check(a[0]) || PyTuple_Check(a[0])) {
    const std::vector<Tensor> parts = a.tensors(0, "embedding_lookup");
    if (parts.empty()) raise(PyExc_ValueError, "Need at least one param");
    if (parts[0].rank() > 1) table = parts.size() == 1 ? parts[0] : concat(parts, 0);
  }
  const Tensor rows = gather(table.defined() ? table : a.tensor(0), a.tensor(1));
  if (a.is_none(2)) return wrap(rows);
  const Tensor ids = a.tensor(1), bound = a.tensor(2, rows.dtype());
  Shape axes;
  for (int axis = ids.rank(); axis < rows.rank(); ++axis) axes.push_back(axis);
  return wrap(rows * bound / maximum(reduce_euclidean_norm(rows, axes, true), bound));
}

PyObject* from_bytes(const Arguments& a) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  check(PyBytes_AsStringAndSize(a[0], &data, &size));
  const DType dtype = to_dtype(a[1]);
  const Shape shape = a.shape(2);
  if (shape.num_elements() * static_cast<std::int64_t>(size_of(dtype)) != size)
    raise(PyExc_ValueError, "%zd bytes do not fit the shape", size);
  return wrap(Tensor::filled_by(
      dtype, shape, [&](void* to) { std::memcpy(to, data, static_cast<std::size_t>(size)); }));
}

PyObject* different(const Arguments& a, bool counts) {
  const Tensor x = a.tensor(0);
  const Unique u = on_large(x, [&, dtype = a.dtype(1, int32)] { return unique(x, dtype); });
  const Ref y = Ref::own(wrap(u.y)), idx = Ref::own(wrap(u.idx)), count = Ref::own(wrap(u.count));
  return counts ? PyObject_CallFunctionObjArgs(imported("gradus._results", "UniqueWithCounts"),
                                               y.get(), idx.get(), count.get(), nullptr)
                : PyObject_CallFunctionObjArgs(imported("gradus._results", "Unique"), y.get(),
                                               idx.get(), nullptr);
}

constexpr const char* kOneDevice = "layout: there is one device, which holds it whole";

const FunctionEntry entries[] = {
    {"constant", "value, dtype=None, shape=None, name='Const'", "A tensor from numbers.", constant},
    {"convert_to_tensor", "value, dtype=None, dtype_hint=None, name=None",
     "A tensor from anything that can become one; tensors pass through.", convert},
    {"_tensor_from_bytes", "data, dtype, shape", "For pickle.", from_bytes},
    {"zeros", "shape, dtype='float32', name=None, layout=None", "Zeros.",
     [](const Arguments& a) { return wrap(filled(a.shape(0), to_dtype(a[1]), false)); },
     kOneDevice},
    {"ones", "shape, dtype='float32', name=None, layout=None", "Ones.",
     [](const Arguments& a) { return wrap(filled(a.shape(0), to_dtype(a[1]), true)); }, kOneDevice},
    {"zeros_like", "input, dtype=None, name=None, layout=None", "Zeros of the shape of another.",
     [](const Arguments& a) { return like(a, false); }, kOneDevice},
    {"ones_like", "input, dtype=None, name=None, layout=None", "Ones of the shape of another.",
     [](const Arguments& a) { return like(a, true); }, kOneDevice},
    {"fill", "dims, value, name=None, layout=None", "One value everywhere.",
     [](const Arguments& a) {
       const Shape shape = a.shape(0);
       const Tensor value = a.tensor(1);
       return wrap(made(shape, [&] { return fill(shape, value); }));
     },
     kOneDevice},
    {"range", "start, limit=None, delta=1, dtype=None, name='range'",
     "start, start + delta, ... below limit; with one number, from 0 to it.", make_range},
    {"linspace", "start, stop, num, name=None, axis=0", "num numbers from start to stop.",
     [](const Arguments& a) {
       const auto ends = to_pair(a[0], a[1]);
       return wrap(linspace(ends.first, ends.second, a.size(2), a.small(4)));
     }},
    {"eye linalg.eye", "num_rows, num_columns=None, batch_shape=None, dtype='float32', name=None",
     "The identity matrix.",
     [](const Arguments& a) {
       return wrap(eye(a.size(0), a.is_none(1) ? Size(-1) : a.size(1),
                       a.is_none(2) ? Shape() : a.shape(2), a.dtype(3, float32)));
     }},
    {"one_hot", "indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None",
     "A new axis with on_value at the index and off_value elsewhere.", hot},
    {"sequence_mask", "lengths, maxlen=None, dtype='bool', name=None",
     "True for the first `lengths` positions along a new last axis.",
     [](const Arguments& a) {
       return wrap(
           sequence_mask(a.tensor(0), a.is_none(1) ? Size(-1) : a.size(1), a.dtype(2, bool_)));
     }},
    {"_meshgrid", "axes, indexing", "The coordinates of a grid.",
     [](const Arguments& a) { return wrap(meshgrid(a.tensors(0, "meshgrid"), a.string(1))); }},
    {"shape", "input, out_type=None, name=None", "The shape as a tensor.",
     [](const Arguments& a) { return wrap(shape(a.tensor(0), a.dtype(1, int32))); }},
    {"size", "input, out_type=None, name=None", "The number of elements as a tensor.",
     [](const Arguments& a) { return wrap(size(a.tensor(0), a.dtype(1, int32))); }},
    {"rank", "input, name=None", "The number of axes as a tensor.",
     [](const Arguments& a) { return wrap(rank(a.tensor(0))); }},
    {"reshape", "tensor, shape, name=None", "The elements in another shape; one size may be -1.",
     reshaped},
    {"broadcast_to", "input, shape, name=None", "Repeated to a larger shape.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0);
       return wrap(broadcast_to(x, a.shape(1)));
     }},
    {"transpose", "a, perm=None, conjugate=False, name='transpose'", "Axes in another order.",
     transposed},
    {"expand_dims", "input, axis, name=None", "A new axis of size 1.",
     [](const Arguments& a) { return wrap(expand_dims(a.tensor(0), a.small(1))); }},
    {"squeeze", "input, axis=None, name=None", "Axes of size 1 go away.", squeeze_out},
    {"concat", "values, axis, name='concat'", "Tensors one after the other along an axis.", join},
    {"stack", "values, axis=0, name='stack'", "Tensors along a new axis.", stack_up},
    {"unstack", "value, num=None, axis=0, name='unstack'", "The slices along an axis, a list.",
     [](const Arguments& a) {
       std::vector<Tensor> parts = unstack(a.tensor(0), a.small(2));
       const std::int64_t found = static_cast<std::int64_t>(parts.size());
       if (a.integer_or_none(1).value_or(found) != found)
         throw InvalidArgumentError("[unstack] got num " + std::to_string(a.integer(1)) +
                                    " for an axis of size " + std::to_string(found));
       return wrap(parts);
     }},
    {"split", "value, num_or_size_splits, axis=0, num=None, name='split'",
     "Equal parts, or parts of given sizes, along an axis; a list.", divide_up},
    {"tile", "input, multiples, name=None", "Each axis repeated as a whole.",
     [](const Arguments& a) { return wrap(tile(a.tensor(0), a.shape(1))); }},
    {"repeat", "input, repeats, axis=None, name=None", "Each element repeated.", repeated},
    {"reverse", "tensor, axis, name=None", "Axes backwards.",
     [](const Arguments& a) { return wrap(reverse(a.tensor(0), a.shape(1))); }},
    {"reverse_sequence", "input, seq_lengths, seq_axis=None, batch_axis=None, name=None",
     "The first elements of each row backwards.",
     [](const Arguments& a) {
       return wrap(reverse_sequence(a.tensor(0), a.tensor(1), a.is_none(2) ? 1 : a.small(2),
                                    a.is_none(3) ? 0 : a.small(3)));
     }},
    {"roll", "input, shift, axis, name=None", "Elements moved along axes, around the end.", rolled},
    {"pad", "tensor, paddings, mode='CONSTANT', constant_values=0, name=None",
     "A border of a constant, or of mirrored elements.", padded},
    {"bitcast", "input, type, name=None", "The bits of each element as another dtype.",
     [](const Arguments& a) { return wrap(bitcast(a.tensor(0), to_dtype(a[1]))); }},
    {"slice", "input_, begin, size, name=None", "The block at `begin`; a size of -1 is the rest.",
     sliced},
    {"strided_slice",
     "input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, "
     "new_axis_mask=0, shrink_axis_mask=0, var=None, name=None",
     "What x[...] does, as numbers and masks.",
     [](const Arguments& a) {
       const auto is_found = [&](int i) {  // neither numbers nor sizes
         if (a.is_none(i) || PyLong_Check(a[i])) return false;
         const Tensor t = a.tensor(i);
         return !has_value(t) && !sizes_in(t);
       };
       if (is_found(1) || is_found(2) || is_found(3)) return sliced_by_tensors(a);
       const Shape begin = a.shape(1);
       Shape strides;
       for (int i = 0; i < begin.rank(); ++i) strides.push_back(1);
       const auto mask = [&](int i) { return static_cast<std::uint32_t>(a.integer(i)); };
       return wrap(strided_slice(a.tensor(0), begin, a.shape(2),
                                 a.is_none(3) ? strides : a.shape(3),
                                 {mask(4), mask(5), mask(6), mask(7), mask(8)}));
     },
     "var: the variable of a later assignment, which is made by subscripts here"},
    {"gather", "params, indices, validate_indices=None, axis=None, batch_dims=0, name=None",
     "Slices along an axis, by index.", gathered, "validate_indices: indices are always checked"},
    {"nn.embedding_lookup", "params, ids, max_norm=None, name=None", "Rows of a table, by number.",
     looked_up},
    {"boolean_mask", "tensor, mask, axis=None, name='boolean_mask'",
     "The slices where a mask is true.",
     [](const Arguments& a) {
       return wrap(boolean_mask(a.tensor(0), a.tensor(1), a.is_none(2) ? 0 : a.small(2)));
     }},
    {"unique", "x, out_idx='int32', name=None", "The different values, and each element's number.",
     [](const Arguments& a) { return different(a, false); }},
    {"unique_with_counts", "x, out_idx='int32', name=None",
     "The different values, each element's number, and how often each occurs.",
     [](const Arguments& a) { return different(a, true); }},
};

}  // namespace

void add_array_functions() { add_functions(entries); }

}  // namespace gradus::python
