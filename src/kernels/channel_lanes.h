// Loops over the channels of NHWC images, which are neighbours: whole vectors first, then the rest
// one by one, with one body for both. Only for NAME_isa.cpp files, like vec.h.
#pragma once
#include "kernels/vec.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

// Whole numbers as wide as T.
template <class T>
struct WholeOf {
  using type = std::int32_t;
};
template <>
struct WholeOf<double> {
  using type = std::int64_t;
};
template <class T>
using Whole = typename WholeOf<T>::type;

// One notation for a single T and for a Vec<T>, each with int32 taps as Numbers beside it.
template <class T>
struct OneLane {
  using Value = T;
  using Number = Whole<T>;
  static Value get(const T* p) { return *p; }
  static void put(T* p, Value v) { *p = v; }
  static Number get_taps(const std::int32_t* p) { return *p; }
  static void put_taps(std::int32_t* p, Number n) { *p = static_cast<std::int32_t>(n); }
  static Value all(T x) { return x; }
  static Number all_number(Number n) { return n; }
};

template <class T>
struct AllLanes {
  using Value = Vec<T>;
  using Number = Vec<Whole<T>>;
  typedef std::int32_t Taps __attribute__((vector_size(kLanes<T> * 4)));
  static Value get(const T* p) { return load(p); }
  static void put(T* p, Value v) { store(p, v); }
  static Number get_taps(const std::int32_t* p) {
    Taps taps;
    std::memcpy(&taps, p, sizeof taps);
    return __builtin_convertvector(taps, Number);
  }
  static void put_taps(std::int32_t* p, Number n) {
    const Taps taps = __builtin_convertvector(n, Taps);
    std::memcpy(p, &taps, sizeof taps);
  }
  static Value all(T x) { return Value{} + x; }
  static Number all_number(Whole<T> n) { return Number{} + n; }
};

// Calls body(lanes, c) for all channels: vectors first, then the rest one by one.
template <class T, class Body>
inline void for_channels(std::int64_t channels, const Body& body) {
  std::int64_t c = 0;
  for (; c + kLanes<T> <= channels; c += kLanes<T>) body(AllLanes<T>{}, c);
  for (; c < channels; ++c) body(OneLane<T>{}, c);
}

}  // namespace
}  // namespace gradus::kernels::GRADUS_ISA
