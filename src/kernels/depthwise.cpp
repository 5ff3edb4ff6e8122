#include "kernels/depthwise.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "kernels/depthwise_table.h"
#include "kernels/isa.h"
#include "kernels/scratch.h"
#include "kernels/tile_sum.h"

namespace gradus::kernels {
namespace {

using std::int64_t;

constexpr int64_t kChunkWork = 64 * 1024;  // products, about 10 us

const DepthwiseTable& table(DType dtype) {
  const DepthwiseTables& tables =
      pick(baseline::depthwise_tables, avx2::depthwise_tables, avx512::depthwise_tables);
  return dtype == DType::float64 ? tables.float64 : tables.float32;
}

void run_rows(DepthwiseRows function, const DepthwiseArgs& args, int64_t rows, int64_t pixels) {
  const Conv2dShape& s = *args.shape;
  const int64_t work = std::max<int64_t>(1, pixels * s.in_c * s.filter_h * s.filter_w);
  const int64_t step = std::max<int64_t>(1, kChunkWork / work);
  if (rows <= step) return function(args, 0, rows);
  parallel_for((rows + step - 1) / step,
               [&](int64_t i) { function(args, i * step, std::min(rows, (i + 1) * step)); });
}

}  // namespace

bool is_depthwise(const Conv2dShape& s) { return s.groups == s.in_c && s.groups == s.out_c; }

void depthwise(const Conv2dShape& s, const void* input, const void* filter, void* output,
               const void* bias, bool relu) {
  DepthwiseArgs args{&s, s.out_h(), s.out_w(), input, filter, nullptr, output};
  args.bias = bias;
  args.relu = relu;
  run_rows(table(s.dtype).forward, args, s.batch * args.out_h, args.out_w);
}

void depthwise_input_gradient(const Conv2dShape& s, const void* d_output, const void* filter,
                              void* d_input, bool accumulate, const void* gate) {
  DepthwiseArgs args{&s, s.out_h(), s.out_w(), nullptr, filter, d_output, d_input};
  args.gate = gate;
  args.accumulate = accumulate;
  run_rows(table(s.dtype).input_gradient, args, s.batch * s.in_h, s.in_w);
}

void depthwise_filter_gradient(const Conv2dShape& s, const void* input, const void* d_output,
                               void* d_filter, bool accumulate) {
  constexpr int64_t kMostChunks = 16;
  const int64_t size = s.filter_h * s.filter_w * s.in_c, rows = s.batch * s.out_h();
  const int64_t bytes = size * static_cast<int64_t>(size_of(s.dtype));
  const int64_t chunks =
      std::clamp<int64_t>(std::min(rows * s.out_w() * size / kChunkWork, rows), 1, kMostChunks);
  Scratch partial(static_cast<std::size_t>(chunks * bytes));
  parallel_for(chunks, [&](int64_t i) {
    const DepthwiseArgs args{
        &s, s.out_h(), s.out_w(), input, nullptr, d_output, partial.as<char>() + i * bytes};
    table(s.dtype).filter_gradient(args, rows * i / chunks, rows * (i + 1) / chunks);
  });
  sum_arrays(s.dtype, partial.data(), chunks, size, d_filter, accumulate);
}

}  // namespace gradus::kernels
