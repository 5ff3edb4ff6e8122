// Square roots without the divider, with the bits of those that it makes.
//
// The processor's estimate y of 1 / sqrt(x) is good to 12 bits. One step of Newton's method for
// g = x y and h = y / 2 gives 23 of them, and the last step, whose remainder x - g g is exact,
// rounds correctly: all 2^24 floats in [1, 4) were tried with every estimate that is off by at most
// 1.5 / 4096, which is what processors promise, and only the 18 of kHard depend on the estimate.
// (AVX-512's estimate, off by at most 2^-14, is good for those, too.) Other exponents behave alike
// down to where the remainder underflows; below, and for infinities, NaN and what is negative, a
// jump out of the loop asks the divider. Zeros are common (the moments of weights that never had a
// gradient) and need no jump.
#include <immintrin.h>

#include <bit>
#include <cmath>

#include "expr/machine.h"

namespace gradus::expr {
namespace {

constexpr std::uint32_t kHard[] = {0x3f925859, 0x3fa97bef, 0x3fbb61f7, 0x3fcdaeb2, 0x3fd46581,
                                   0x3ff028ab, 0x3ff0d9ce, 0x3ffc114a, 0x402a177f, 0x403302be,
                                   0x403b8bcc, 0x404d142a, 0x404d91ec, 0x40515a77, 0x405364e1,
                                   0x405ae03b, 0x405f5fa5, 0x406e9372};
constexpr std::uint32_t kSmallest = std::bit_cast<std::uint32_t>(0x1p-96f), kInfinity = 0x7f800000;

bool estimates_suffice() {
  for (const std::uint32_t bits : kHard) {
    const float x = std::bit_cast<float>(bits), y = _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(x)));
    float g = y * x, h = y * 0.5f;
    const float r = std::fma(-g, h, 0.5f);
    g = std::fma(g, r, g), h = std::fma(h, r, h);
    if (std::fma(std::fma(-g, g, x), h, g) != std::sqrt(x)) return false;
  }
  return true;
}

}  // namespace

bool Machine::can_multiply_roots() const {
  static const bool suffice = estimates_suffice();
  return zmm_ || suffice;
}

void Machine::root_by_multiplying(const Instr& i) {
  const Xmm x = reg(i.a), g = define();
  const Xmm h = vec(i.type, temp()), r = vec(i.type, temp());
  const Xbyak::Address half = pool(std::bit_cast<std::uint32_t>(0.5f), false);
  PlainRoot& plain = plain_roots_.emplace_back();
  plain.root = g, plain.x = x;
  vmaxps(h, x, pool(kSmallest, false));  // a finite estimate for 0, whose root is then x * y = 0
  zmm_ ? vrsqrt14ps(h, h) : vrsqrtps(h, h);
  vmulps(g, h, x);
  vmulps(h, h, half);
  vmovaps(r, h);
  vfnmadd213ps(r, g, half);
  vfmadd213ps(g, r, g);
  vfmadd213ps(h, r, h);
  vmovaps(r, x);
  vfnmadd231ps(r, g, g);
  vfmadd231ps(g, r, h);
  // x as an integer, moved so that what is covered, but for 0, is below a signed limit.
  const std::uint32_t moved = kSmallest + 0x80000000u;
  vpsubd(r, x, pool(moved, false));
  const Xbyak::Address limit = pool(kInfinity - 1 - moved, false);
  if (zmm_) {
    vpcmpd(k1, r, limit, 6);
    vptestmd(k1 | k1, x, x);
    kortestw(k1, k1);
  } else {
    vpcmpgtd(r, r, limit);
    vptest(r, x);
  }
  jnz(plain.start);
  L(plain.back);
}

void Machine::emit_plain_roots() {
  for (PlainRoot& plain : plain_roots_) {
    L(plain.start);
    vsqrtps(plain.root, plain.x);
    jmp(plain.back);
  }
}

}  // namespace gradus::expr
