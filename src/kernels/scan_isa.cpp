// A row of floating numbers is scanned in blocks of eight: the sums inside a block do not wait for
// the carry, so blocks overlap. Columns keep one running value each and vectorise as they are.
#include <type_traits>

#include "kernels/scan_loops.h"
#include "kernels/vec.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

// high + low grows by x without losing what high cannot hold. Only float64 needs the low part.
template <class T>
inline void add(Carry& carry, double x) {
  const double sum = carry.high + x;
  if constexpr (std::is_same_v<T, double>) {
    const double shifted = sum - carry.high;
    const double lost = (carry.high - (sum - shifted)) + (x - shifted);
    carry.low += lost - lost == 0 ? lost : 0.0;  // NOLINT: nothing is kept of an infinity
  }
  carry.high = sum;
}

template <class T>
inline void put(T* p, double x) {
  store_one(p, static_cast<Compute<T>>(x));
}

template <bool kReverse, class T>
inline void sum_row_one_way(const T* in, std::int64_t n, Carry carry, T* out) {
  constexpr int kBlock = 8, kStep = kReverse ? -1 : 1;
  if (kReverse) {
    in += n - 1;
    out += n - 1;
  }
  std::int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock, in += kBlock * kStep, out += kBlock * kStep) {
    double local[kBlock];
    local[0] = static_cast<double>(load_one(in));
#pragma GCC unroll 8
    for (int j = 1; j < kBlock; ++j)
      local[j] = local[j - 1] + static_cast<double>(load_one(in + j * kStep));
#pragma GCC unroll 8
    for (int j = 0; j < kBlock; ++j) put(out + j * kStep, carry.high + (carry.low + local[j]));
    add<T>(carry, local[kBlock - 1]);
  }
  for (; i < n; ++i, in += kStep, out += kStep) {
    short_loop();
    add<T>(carry, static_cast<double>(load_one(in)));
    put(out, carry.high + carry.low);
  }
}

template <class T>
void sum_row(const void* in, std::int64_t n, bool reverse, const Carry* carry, void* out) {
  const Carry start = carry ? *carry : Carry();
  if (reverse)
    sum_row_one_way<true>(static_cast<const T*>(in), n, start, static_cast<T*>(out));
  else
    sum_row_one_way<false>(static_cast<const T*>(in), n, start, static_cast<T*>(out));
}

template <class T>
Carry total(const void* in, std::int64_t n) {
  constexpr int kBlock = 8;
  const T* p = static_cast<const T*>(in);
  Carry carry;
  std::int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    double a[kBlock];
#pragma GCC unroll 8
    for (int j = 0; j < kBlock; ++j) a[j] = static_cast<double>(load_one(p + i + j));
    add<T>(carry, ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7])));
  }
  for (; i < n; ++i) {
    short_loop();
    add<T>(carry, static_cast<double>(load_one(p + i)));
  }
  return carry;
}

inline void store_narrow(double* p, Vec<double> v) { store(p, v); }
inline void store_narrow(float* p, Vec<double> v) {
  const auto narrow = __builtin_convertvector(v, typename VecOf<float, kVectorBytes / 2>::type);
  std::memcpy(p, &narrow, sizeof narrow);
}

template <class T>
void sum_columns(const void* in, std::int64_t n, std::int64_t step, std::int64_t width, void* out) {
  constexpr bool kPair = std::is_same_v<T, double>;
  constexpr std::int64_t kBlock = kPair ? 1024 : 2048;
  for (std::int64_t c = 0; c < width; c += kBlock) {
    const std::int64_t w = width - c < kBlock ? width - c : kBlock;
    const T* from = static_cast<const T*>(in) + c;
    T* to = static_cast<T*>(out) + c;
    double high[kBlock] = {}, low[kPair ? kBlock : 1] = {};
    for (std::int64_t r = 0; r < n; ++r, from += step, to += step) {
      std::int64_t i = 0;
      if constexpr (sizeof(T) >= 4) {
        for (; i + kLanes<double> <= w; i += kLanes<double>) {
          const Vec<double> before = load(high + i), x = load_wide(from + i), sum = before + x;
          store(high + i, sum);
          if constexpr (kPair) {
            const Vec<double> shifted = sum - before;
            const Vec<double> lost = (before - (sum - shifted)) + (x - shifted);
            const Vec<double> rest = load(low + i) + (lost - lost == 0 ? lost : Vec<double>{});
            store(low + i, rest);
            store_narrow(to + i, sum + rest);
          } else {
            store_narrow(to + i, sum);
          }
        }
      }
      for (; i < w; ++i) {
        short_loop();
        Carry carry = {high[i], kPair ? low[kPair ? i : 0] : 0.0};
        add<T>(carry, static_cast<double>(load_one(from + i)));
        put(to + i, carry.high + carry.low);
        high[i] = carry.high;
        if (kPair) low[kPair ? i : 0] = carry.low;
      }
    }
  }
}

template <class T>
struct Complex {
  T re, im;
};

struct Plus {
  template <class V>
  static V apply(V a, V b) {
    return static_cast<V>(a + b);
  }
};

struct Times {
  template <class V>
  static V apply(V a, V b) {
    if constexpr (std::is_integral_v<V>)
      return static_cast<V>(1u * a * b);
    else
      return a * b;
  }
  template <class T>
  static Complex<T> apply(Complex<T> a, Complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

template <class Op, class T>
void plain_row(const void* in, std::int64_t n, bool reverse, const Carry*, void* out) {
  const T* from = static_cast<const T*>(in) + (reverse ? n - 1 : 0);
  T* to = static_cast<T*>(out) + (reverse ? n - 1 : 0);
  const int step = reverse ? -1 : 1;
  Compute<T> acc = load_one(from);
  store_one(to, acc);
  for (std::int64_t i = 1; i < n; ++i) {
    short_loop();
    from += step;
    to += step;
    acc = Op::apply(acc, load_one(from));
    store_one(to, acc);
  }
}

template <class Op, class T>
void plain_columns(const void* in, std::int64_t n, std::int64_t step, std::int64_t width,
                   void* out) {
  using C = Compute<T>;
  constexpr std::int64_t kBlock = 512;
  for (std::int64_t c = 0; c < width; c += kBlock) {
    const std::int64_t w = width - c < kBlock ? width - c : kBlock;
    const T* from = static_cast<const T*>(in) + c;
    T* to = static_cast<T*>(out) + c;
    C acc[kBlock];
    for (std::int64_t i = 0; i < w; ++i) {
      acc[i] = load_one(from + i);
      store_one(to + i, acc[i]);
    }
    for (std::int64_t r = 1; r < n; ++r) {
      from += step;
      to += step;
      for (std::int64_t i = 0; i < w; ++i) {
        acc[i] = Op::apply(acc[i], load_one(from + i));
        store_one(to + i, acc[i]);
      }
    }
  }
}

template <class T>
constexpr void enter_float(ScanLoops& loops) {
  const int t = static_cast<int>(dtype_v<T>);
  loops.row[ScanLoops::kSum][t] = sum_row<T>;
  loops.columns[ScanLoops::kSum][t] = sum_columns<T>;
  loops.total[t] = total<T>;
  loops.row[ScanLoops::kProd][t] = plain_row<Times, T>;
  loops.columns[ScanLoops::kProd][t] = plain_columns<Times, T>;
}

template <class T>
constexpr void enter_unsigned(ScanLoops& loops) {
  const int t = static_cast<int>(dtype_v<T>);
  loops.row[ScanLoops::kSum][t] = plain_row<Plus, T>;
  loops.columns[ScanLoops::kSum][t] = plain_columns<Plus, T>;
  loops.row[ScanLoops::kProd][t] = plain_row<Times, T>;
  loops.columns[ScanLoops::kProd][t] = plain_columns<Times, T>;
}

template <class T>
constexpr void enter_complex(ScanLoops& loops, DType t) {
  loops.row[ScanLoops::kProd][static_cast<int>(t)] = plain_row<Times, Complex<T>>;
  loops.columns[ScanLoops::kProd][static_cast<int>(t)] = plain_columns<Times, Complex<T>>;
}

constexpr ScanLoops all_loops() {
  ScanLoops loops;
  enter_unsigned<std::uint8_t>(loops);
  enter_unsigned<std::uint16_t>(loops);
  enter_unsigned<std::uint32_t>(loops);
  enter_unsigned<std::uint64_t>(loops);
  enter_float<half>(loops);
  enter_float<bfloat>(loops);
  enter_float<float>(loops);
  enter_float<double>(loops);
  enter_complex<float>(loops, complex64);
  enter_complex<double>(loops, complex128);
  return loops;
}

}  // namespace

constinit const ScanLoops scan_loops = all_loops();

}  // namespace gradus::kernels::GRADUS_ISA
