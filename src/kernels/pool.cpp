#include "kernels/pool.h"

#include <algorithm>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/half.h"
#include "kernels/isa.h"
#include "kernels/pool_table.h"
#include "kernels/scratch.h"

namespace gradus::kernels {
namespace {

using std::int64_t;

// Calls part(begin, end) for `rows` of the result with `row` elements, each of which takes about
// `work` steps.
template <class Part>
void for_rows(int64_t rows, int64_t row, int64_t work, const Part& part) {
  constexpr int64_t kChunkWork = 64 * 1024;  // about 10 us
  const int64_t step = std::max<int64_t>(1, kChunkWork / std::max<int64_t>(1, row * work));
  if (rows <= step) return part(0, rows);
  parallel_for((rows + step - 1) / step,
               [&](int64_t i) { part(i * step, std::min(rows, (i + 1) * step)); });
}

const PoolTable& table(DType dtype) {
  const PoolTables& tables = pick(baseline::pool_tables, avx2::pool_tables, avx512::pool_tables);
  GRADUS_ASSERT(dtype == DType::float32 || dtype == DType::float64);
  return dtype == DType::float32 ? tables.float32 : tables.float64;
}

bool is_half(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

// Calls pool(shape, from, to) with float32 copies of half operands; `to` is read if asked.
template <class Pool>
void in_float32(const Pool2dShape& shape, const void* from, int64_t from_size, void* to,
                int64_t to_size, bool read, const Pool& pool) {
  Pool2dShape wide = shape;
  wide.dtype = DType::float32;
  Scratch from_copy(sizeof(float) * from_size), to_copy(sizeof(float) * to_size);
  widen(shape.dtype, from_copy.as<float>(), from, from_size);
  if (read) widen(shape.dtype, to_copy.as<float>(), to, to_size);
  pool(wide, from_copy.data(), to_copy.data());
  narrow(shape.dtype, to, to_copy.as<float>(), to_size);
}

void run_forward(PoolRows PoolTable::*function, const Pool2dShape& s, const void* input,
                 const std::int32_t* taps, std::int32_t* new_taps, void* output) {
  if (is_half(s.dtype))
    return in_float32(s, input, s.in_size(), output, s.out_size(), false,
                      [&](const Pool2dShape& wide, const void* from, void* to) {
                        run_forward(function, wide, from, taps, new_taps, to);
                      });
  const PoolArgs args{&s, s.out_h(), s.out_w(), input, output, taps, new_taps, false};
  const PoolRows pool = table(s.dtype).*function;
  for_rows(s.batch * s.out_h(), s.out_w() * s.channels, s.window_h * s.window_w,
           [&](int64_t begin, int64_t end) { pool(args, begin, end); });
}

// How much goes into one element of the image.
int64_t windows_around(const Pool2dShape& s) {
  return (s.window_h + s.stride_h - 1) / s.stride_h * ((s.window_w + s.stride_w - 1) / s.stride_w);
}

void run_gradient(PoolRows PoolTable::*function, const Pool2dShape& s, const void* d_output,
                  const std::int32_t* taps, void* d_input, bool accumulate) {
  if (is_half(s.dtype))
    return in_float32(s, d_output, s.out_size(), d_input, s.in_size(), accumulate,
                      [&](const Pool2dShape& wide, const void* from, void* to) {
                        run_gradient(function, wide, from, taps, to, accumulate);
                      });
  const PoolArgs args{&s, s.out_h(), s.out_w(), d_output, d_input, taps, nullptr, accumulate};
  const PoolRows pool = table(s.dtype).*function;
  for_rows(s.batch * s.in_h, s.in_w * s.channels, windows_around(s),
           [&](int64_t begin, int64_t end) { pool(args, begin, end); });
}

void run_gradient(PoolRows PoolTable::*function, const Pool2dShape& s, const void* d_output,
                  const std::int32_t* taps, const BlockTaker& taker) {
  if (s.in_size() == 0) return;
  if (is_half(s.dtype))
    return taker({0, s.batch * s.in_h * s.in_w, 0, s.channels},
                 [&](void* to, int64_t) { run_gradient(function, s, d_output, taps, to, false); });
  const PoolRows pool = table(s.dtype).*function;
  for_rows(s.batch * s.in_h, s.in_w * s.channels, windows_around(s),
           [&](int64_t begin, int64_t end) {
             const int64_t pixel = begin * s.in_w;
             taker({pixel, (end - begin) * s.in_w, 0, s.channels}, [&](void* to, int64_t bytes) {
               char* image = static_cast<char*>(to) - pixel * bytes;
               pool({&s, s.out_h(), s.out_w(), d_output, image, taps, nullptr, false}, begin, end);
             });
           });
}

}  // namespace

void max_pool2d(const Pool2dShape& shape, const void* input, void* output, std::int32_t* taps) {
  run_forward(&PoolTable::max, shape, input, nullptr, taps, output);
}

void max_pool2d_take(const Pool2dShape& shape, const void* input, const std::int32_t* taps,
                     void* output) {
  run_forward(&PoolTable::take, shape, input, taps, nullptr, output);
}

void max_pool2d_gradient(const Pool2dShape& shape, const void* d_output, const std::int32_t* taps,
                         void* d_input, bool accumulate) {
  run_gradient(&PoolTable::max_gradient, shape, d_output, taps, d_input, accumulate);
}

void max_pool2d_gradient(const Pool2dShape& shape, const void* d_output, const std::int32_t* taps,
                         const BlockTaker& taker) {
  run_gradient(&PoolTable::max_gradient, shape, d_output, taps, taker);
}

void avg_pool2d(const Pool2dShape& shape, const void* input, void* output) {
  run_forward(&PoolTable::average, shape, input, nullptr, nullptr, output);
}

void avg_pool2d_gradient(const Pool2dShape& shape, const void* d_output, void* d_input,
                         bool accumulate) {
  run_gradient(&PoolTable::average_gradient, shape, d_output, nullptr, d_input, accumulate);
}

void avg_pool2d_gradient(const Pool2dShape& shape, const void* d_output, const BlockTaker& taker) {
  run_gradient(&PoolTable::average_gradient, shape, d_output, nullptr, taker);
}

}  // namespace gradus::kernels
