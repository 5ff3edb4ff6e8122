// Fourier transforms: tf.signal. What is made of them is in gradus/_signal.py.
#include "function.h"
#include "gradus/error.h"
#include "gradus/ops.h"

namespace gradus::python {
namespace {

template <int axes>
PyObject* forward(const Arguments& a) {
  const Tensor x = a.tensor(0);
  return wrap(on_large(x, [&] { return signal::fft(x, axes); }));
}
template <int axes>
PyObject* inverse(const Arguments& a) {
  const Tensor x = a.tensor(0);
  return wrap(on_large(x, [&] { return signal::ifft(x, axes); }));
}

// The sizes of the real side: those that are asked for, or those of the tensor, of which the other
// side has half along the last axis.
Shape length_of(const char* what, const Arguments& a, const Tensor& x, int axes, bool halved) {
  if (x.rank() < axes)
    throw InvalidArgumentError("[" + std::string(what) + "] got shape " +
                               gradus::to_string(x.shape()) + "; expected at least " +
                               std::to_string(axes) + " axes");
  if (!a.is_none(1)) {
    const Shape length = a.shape(1);
    if (length.rank() != axes)
      raise(PyExc_ValueError, "fft_length has %d entries; expected %d", length.rank(), axes);
    return length;
  }
  if (halved) return signal::irfft_length(x, axes);
  Shape length;
  for (int i = x.rank() - axes; i < x.rank(); ++i) length.push_back(x.shape()[i]);
  return length;
}

template <int axes>
PyObject* real_forward(const Arguments& a) {
  const Tensor x = a.tensor(0);
  const Shape length = length_of("rfft", a, x, axes, false);
  return wrap(on_large(x, [&] { return signal::rfft(x, length); }));
}
template <int axes>
PyObject* real_inverse(const Arguments& a) {
  const Tensor x = a.tensor(0);
  const Shape length = length_of("irfft", a, x, axes, true);
  return wrap(on_large(x, [&] { return signal::irfft(x, length); }));
}

constexpr const char* kInput = "input, name=None";
constexpr const char* kLength = "input_tensor, fft_length=None, name=None";

const FunctionEntry entries[] = {
    {"signal.fft", kInput, "The Fourier transform along the last axis.", forward<1>},
    {"signal.ifft", kInput, "Its inverse.", inverse<1>},
    {"signal.fft2d", kInput, "The Fourier transform over two axes.", forward<2>},
    {"signal.ifft2d", kInput, "Its inverse.", inverse<2>},
    {"signal.fft3d", kInput, "The Fourier transform over three axes.", forward<3>},
    {"signal.ifft3d", kInput, "Its inverse.", inverse<3>},
    {"signal.rfft", kLength, "The transform of real numbers, of which half is enough.",
     real_forward<1>},
    {"signal.irfft", kLength, "Its inverse.", real_inverse<1>},
    {"signal.rfft2d", kLength, "The transform of real numbers over two axes.", real_forward<2>},
    {"signal.irfft2d", kLength, "Its inverse.", real_inverse<2>},
    {"signal.rfft3d", kLength, "The transform of real numbers over three axes.", real_forward<3>},
    {"signal.irfft3d", kLength, "Its inverse.", real_inverse<3>},
};

}  // namespace

void add_signal_functions() { add_functions(entries); }

}  // namespace gradus::python
