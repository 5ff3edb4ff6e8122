// Matrix products and convolutions in GFLOP/s and as a share of the multiply-add peak, which is
// measured in the same run: gemm_bench [--threads N] [--budget SECONDS]
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "bench.h"
#include "gradus/threads.h"
#include "kernels/conv2d.h"
#include "kernels/gemm.h"
#include "kernels/isa.h"
#include "kernels/pool.h"
#include "limits.h"

namespace {

using namespace gradus;
using namespace gradus::kernels;
using std::int64_t;

struct Result {
  double us, gflops;
};

Result time(double budget, double flops, const bench::Step& step) {
  const double us = bench::measure({"", 1, [&] { return step; }}, budget).best_us;
  return {us, flops / us * 1e-3};
}

void print(const Result& r, double peak) {
  std::printf(" %10.2f us %6.1f", r.us, r.gflops);
  if (peak > 0) std::printf(" (%3.0f %%)", 100 * r.gflops / peak);
}

void bench_gemm(double budget, double peak) {
  const int64_t sizes[][3] = {
      {16, 16, 16},     {32, 32, 32},       {64, 64, 64},    {128, 128, 128}, {256, 256, 256},
      {512, 512, 512},  {1024, 1024, 1024}, {32, 128, 784},  {784, 128, 32},  {32, 10, 128},
      {128, 10, 32},    {32, 128, 10},      {512, 128, 784}, {32, 512, 128},  {2048, 512, 64},
      {128, 512, 2048}, {1024, 256, 256},   {4096, 64, 64},  {64, 4096, 64},  {1, 128, 784},
      {512, 1, 512}};
  std::printf("float32, C[m, n]: A B | A^T B | A B^T\n");
  for (const auto& [m, n, k] : sizes) {
    std::printf("%5ld %5ld %5ld", m, n, k);
    for (int form = 0; form < 3; ++form) {
      std::vector<float> a(m * k, 0.5f), b(k * n, 0.25f), c(m * n);
      GemmArgs g;
      g.trans_a = form == 1, g.trans_b = form == 2;
      g.m = m, g.n = n, g.k = k;
      g.a = a.data(), g.lda = g.trans_a ? m : k;
      g.b = b.data(), g.ldb = g.trans_b ? k : n;
      g.c = c.data(), g.ldc = n;
      const double flops = 2.0 * static_cast<double>(m * n * k);
      print(time(budget, flops, [&](bool) { return gemm(g), double{c[0]}; }), peak);
      std::printf(form < 2 ? "  |" : "\n");
      std::fflush(stdout);
    }
  }
}

void bench_conv(double budget, double peak) {
  const int64_t sizes[][4] = {{32, 28, 1, 32}, {32, 14, 32, 64}, {32, 32, 32, 64},
                              {8, 56, 64, 64}, {32, 28, 3, 16},  {4, 14, 256, 256}};
  std::printf("3x3 convolution, padding 1: forward | d_input | d_filter\n");
  for (const auto& [batch, size, in, out] : sizes) {
    Conv2dShape s;
    s.batch = batch, s.in_h = s.in_w = size, s.in_c = in, s.out_c = out;
    s.filter_h = s.filter_w = 3;
    s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 1;
    std::vector<float> x(batch * size * size * in, 0.5f), w(9 * in * out, 0.25f),
        y(batch * size * size * out, 0.5f), dx = x, dw = w, z = y;
    const double flops = 2.0 * static_cast<double>(batch * size * size * 9 * in * out);
    std::printf("N%-3ld %3ldx%-3ld %4ld ->%4ld", batch, size, size, in, out);
    print(time(budget, flops,
               [&](bool) { return conv2d(s, x.data(), w.data(), z.data()), double{z[0]}; }),
          peak);
    std::printf("  |");
    print(time(budget, flops,
               [&](bool) {
                 return conv2d_input_gradient(s, y.data(), w.data(), dx.data(), false),
                        double{dx[0]};
               }),
          peak);
    std::printf("  |");
    print(time(budget, flops,
               [&](bool) {
                 return conv2d_filter_gradient(s, x.data(), y.data(), dw.data(), false),
                        double{dw[0]};
               }),
          peak);
    std::printf("\n");
    std::fflush(stdout);
  }
}

void bench_pool(double budget) {
  std::printf("2x2 pooling: maximum | its gradient | average | its gradient, us\n");
  for (const auto& [size, channels] : {std::pair<int64_t, int64_t>{28, 32}, {14, 64}}) {
    Pool2dShape s;
    s.batch = 32, s.in_h = s.in_w = size, s.channels = channels;
    s.window_h = s.window_w = s.stride_h = s.stride_w = 2;
    std::vector<float> x(s.in_size()), y(s.out_size()), dx(s.in_size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 11);
    std::vector<std::int32_t> taps(s.out_size());
    const auto us = [&](const auto& f) {
      return time(budget, 1, [&](bool) { return f(), double{y[0]}; }).us;
    };
    const double max = us([&] { max_pool2d(s, x.data(), y.data(), taps.data()); });
    const double max_gradient =
        us([&] { max_pool2d_gradient(s, y.data(), taps.data(), dx.data(), false); });
    const double average = us([&] { avg_pool2d(s, x.data(), y.data()); });
    const double average_gradient = us([&] { avg_pool2d_gradient(s, y.data(), dx.data(), false); });
    std::printf("N32 %ldx%ldx%-3ld %10.1f | %10.1f | %10.1f | %10.1f\n", size, size, channels, max,
                max_gradient, average, average_gradient);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int threads = 1;
  double budget = 0.2;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--threads") threads = std::atoi(argv[i + 1]);
    if (std::string(argv[i]) == "--budget") budget = std::atof(argv[i + 1]);
  }
  set_thread_count(threads);
  const double peak = bench::peak_gflops(budget, threads);
  std::printf("%s, %d threads, peak %.1f GFLOP/s\n", name_of(isa()), threads, peak);
  bench_gemm(budget, peak);
  bench_conv(budget, peak);
  bench_pool(budget);
  return 0;
}
