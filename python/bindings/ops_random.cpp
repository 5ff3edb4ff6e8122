// Random numbers: tf.random.
#include "function.h"
#include "gradus/elementwise.h"
#include "gradus/random.h"

namespace gradus::python {
namespace {

// A number, or anything that becomes a tensor of the dtype: the numbers drawn are a function of it.
random::Parameter parameter(const Arguments& a, int i, DType dtype) {
  PyObject* o = a[i];
  if (PyFloat_Check(o)) return PyFloat_AS_DOUBLE(o);
  if (PyLong_Check(o)) return static_cast<long long>(a.integer(i));
  const Tensor t = a.tensor(i, is_integer(dtype) ? std::optional<DType>() : dtype);
  if (t.dtype() != dtype && is_floating(dtype) && is_floating(t.dtype()))
    raise(PyExc_ValueError, "Tensor conversion requested dtype %s for Tensor with dtype %s: %R",
          name_of(dtype), name_of(t.dtype()), o);
  return t;
}

// All integers of the dtype are asked for by two bounds that are None.
bool all_integers(const Arguments& a, int minval) {
  const bool low = a.is_none(minval), high = a.is_none(minval + 1);
  if (!is_integer(to_dtype(a[minval + 2])) || !high) return false;
  if (!low)
    raise(PyExc_ValueError,
          "For integer dtype %S, minval and maxval must be both `None` or both non-`None`; got "
          "minval=%R and maxval=None",
          a[minval + 2], a[minval]);
  return true;
}

random::UniformOptions uniform_options(const Arguments& a, int minval, int seed) {
  random::UniformOptions options;
  options.dtype = to_dtype(a[minval + 2]);
  if (a.is_none(minval + 1) && is_integer(options.dtype))
    raise(PyExc_ValueError, "Must specify maxval for integer dtype %S", a[minval + 2]);
  if (!a.is_none(minval)) options.minval = parameter(a, minval, options.dtype);
  if (!a.is_none(minval + 1)) options.maxval = parameter(a, minval + 1, options.dtype);
  if (seed >= 0) options.seed = a.integer_or_none(seed);
  return options;
}

random::NormalOptions normal_options(const Arguments& a, int mean, int seed) {
  const DType dtype = to_dtype(a[mean + 2]);
  random::NormalOptions options{
      .mean = parameter(a, mean, dtype), .stddev = parameter(a, mean + 1, dtype), .dtype = dtype};
  if (seed >= 0) options.seed = a.integer_or_none(seed);
  return options;
}

// The algorithm of stateless draws: Philox, which is also what is selected automatically here.
void need_philox(const Arguments& a, int i) {
  if (PyLong_Check(a[i]) ? to_int(a[i]) == 1 || to_int(a[i]) == 3
                         : a.string(i) == "auto_select" || a.string(i) == "philox")
    return;
  const std::string name = to_string(Ref::own(PyObject_Str(a[i])));
  if (name != "threefry" && name != "2")
    raise(PyExc_ValueError, "Argument `alg` got unsupported string or number %R", a[i]);
  throw InvalidArgumentError("[random] got alg " + name +
                             "; only 'philox' is covered, which 'auto_select' selects");
}

template <class F>
PyObject* drawn(const Shape& shape, F&& f) {
  return wrap(shape.is_known() && shape.num_elements() >= kManyElements ? long_work(f) : f());
}

const FunctionEntry entries[] = {
    {"random.set_seed", "seed", "Restarts the sequence of random numbers.",
     [](const Arguments& a) -> PyObject* {
       random::set_seed(a.integer(0));
       Py_RETURN_NONE;
     }},
    {"_op_seeds", "seed=None", "The pair of seeds that the next random op would take.",
     [](const Arguments& a) { return wrap(random::op_seeds(a.integer_or_none(0))); }},
    {"random.uniform", "shape, minval=0, maxval=None, dtype='float32', seed=None, name=None",
     "Uniform numbers between minval and maxval, which is never drawn.",
     [](const Arguments& a) {
       const Shape shape = a.shape(0);
       const auto options = uniform_options(a, 1, 4);
       return drawn(shape, [&] { return random::uniform(shape, options); });
     }},
    {"random.normal", "shape, mean=0.0, stddev=1.0, dtype='float32', seed=None, name=None",
     "Normally distributed numbers.",
     [](const Arguments& a) {
       const Shape shape = a.shape(0);
       const auto options = normal_options(a, 1, 4);
       return drawn(shape, [&] { return random::normal(shape, options); });
     }},
    {"random.truncated_normal",
     "shape, mean=0.0, stddev=1.0, dtype='float32', seed=None, name=None",
     "Normally distributed numbers within two standard deviations.",
     [](const Arguments& a) {
       const Shape shape = a.shape(0);
       const auto options = normal_options(a, 1, 4);
       return drawn(shape, [&] { return random::truncated_normal(shape, options); });
     }},
    {"random.shuffle", "value, seed=None, name=None", "The rows in random order.",
     [](const Arguments& a) { return wrap(random::shuffle(a.tensor(0), a.integer_or_none(1))); }},
    {"_generated_uniform", "shape, state, minval, maxval, dtype", "Of a generator's state.",
     [](const Arguments& a) {
       const Shape shape = a.shape(0);
       const Tensor state = a.tensor(1);
       if (all_integers(a, 2))
         return wrap(random::generated_integers(shape, state, to_dtype(a[4])));
       const auto options = uniform_options(a, 2, -1);
       return drawn(shape, [&] { return random::generated_uniform(shape, state, options); });
     }},
    {"_generated_normal", "shape, state, mean, stddev, dtype", "Of a generator's state.",
     [](const Arguments& a) {
       const Shape shape = a.shape(0);
       const Tensor state = a.tensor(1);
       const auto options = normal_options(a, 2, -1);
       return drawn(shape, [&] { return random::generated_normal(shape, state, options); });
     }},
    {"_generated_truncated_normal", "shape, state, mean, stddev, dtype", "Of a generator's state.",
     [](const Arguments& a) {
       const Shape shape = a.shape(0);
       const Tensor state = a.tensor(1);
       const auto options = normal_options(a, 2, -1);
       return drawn(shape,
                    [&] { return random::generated_truncated_normal(shape, state, options); });
     }},
    {"_reparameterised_gamma", "alpha, drawn", "Gamma numbers with their derivative in alpha.",
     [](const Arguments& a) {
       const auto both = to_pair(a[0], a[1]);
       return wrap(random::reparameterised_gamma(both.first, both.second));
     }},
    {"random.categorical", "logits, num_samples, dtype=None, seed=None, name=None",
     "Class numbers with probabilities softmax(logits), num_samples per row.",
     [](const Arguments& a) {
       const Tensor drawn = random::categorical(a.tensor(0), a.integer(1), a.integer_or_none(3));
       const DType dtype = a.dtype(2, int64);
       return wrap(dtype == drawn.dtype() ? drawn : cast(drawn, dtype));
     }},
    {"random.stateless_categorical", "logits, num_samples, seed, dtype='int64', name=None",
     "The same as a function of the seed, two integers.",
     [](const Arguments& a) {
       return wrap(cast(random::stateless_categorical(a.tensor(0), a.integer(1), a.tensor(2)),
                        a.dtype(3, int64)));
     }},
    {"random.stateless_uniform",
     "shape, seed, minval=0, maxval=None, dtype='float32', name=None, alg='auto_select'",
     "Uniform numbers that are a function of the seed, two integers.",
     [](const Arguments& a) {
       need_philox(a, 6);
       const Shape shape = a.shape(0);
       const Tensor seed = a.tensor(1);
       if (all_integers(a, 2)) return wrap(random::stateless_integers(shape, seed, to_dtype(a[4])));
       const auto options = uniform_options(a, 2, -1);
       return drawn(shape, [&] { return random::stateless_uniform(shape, seed, options); });
     }},
    {"random.stateless_normal",
     "shape, seed, mean=0.0, stddev=1.0, dtype='float32', name=None, alg='auto_select'",
     "Normal numbers that are a function of the seed, two integers.",
     [](const Arguments& a) {
       need_philox(a, 6);
       const Shape shape = a.shape(0);
       const Tensor seed = a.tensor(1);
       const auto options = normal_options(a, 2, -1);
       return drawn(shape, [&] { return random::stateless_normal(shape, seed, options); });
     }},
    {"random.stateless_truncated_normal",
     "shape, seed, mean=0.0, stddev=1.0, dtype='float32', name=None, alg='auto_select'",
     "Truncated normal numbers that are a function of the seed, two integers.",
     [](const Arguments& a) {
       need_philox(a, 6);
       const Shape shape = a.shape(0);
       const Tensor seed = a.tensor(1);
       const auto options = normal_options(a, 2, -1);
       return drawn(shape,
                    [&] { return random::stateless_truncated_normal(shape, seed, options); });
     }},
};

}  // namespace

void add_random_functions() { add_functions(entries); }

}  // namespace gradus::python
