// Values, hashes and seeds in this file were printed by TensorFlow 2.21.
#include "kernels/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "gradus/threads.h"
#include "kernels/isa.h"
#include "kernels/op_seeds.h"
#include "kernels/random_loops.h"

namespace gradus::kernels {
namespace {

constexpr std::int64_t kCount = 2011;
const Philox kStateless = Philox::from_seed_pair(2024, -7);

// FNV-1a over the bytes.
template <class T>
std::uint64_t hash_of(const std::vector<T>& v) {
  std::uint64_t h = 0xcbf29ce484222325;
  const auto* bytes = reinterpret_cast<const unsigned char*>(v.data());
  for (std::size_t i = 0; i < v.size() * sizeof(T); ++i) h = (h ^ bytes[i]) * 0x100000001b3;
  return h;
}

template <class T>
std::vector<T> uniform(const Philox& generator, std::int64_t n = kCount, double low = 0,
                       double high = 1) {
  std::vector<T> out(n);
  random_uniform(dtype_v<T>, generator, n, low, high, out.data());
  return out;
}

template <class T>
std::vector<T> normal(const Philox& generator, double mean = 0, double stddev = 1) {
  std::vector<T> out(kCount);
  random_normal(dtype_v<T>, generator, kCount, mean, stddev, out.data());
  return out;
}

template <class T>
std::vector<T> truncated(const Philox& generator) {
  std::vector<T> out(kCount);
  random_truncated_normal(dtype_v<T>, generator, kCount, 0, 1, out.data());
  return out;
}

template <class T>
std::vector<T> integers(std::uint64_t low, std::uint64_t range) {
  std::vector<T> out(kCount);
  random_integers(dtype_v<T>, kStateless, kCount, low, range, out.data());
  return out;
}

TEST(KernelsRandom, StatelessSeedsGiveKeyAndCounter) {
  const Philox g = Philox::from_seed_pair(1, 2);
  EXPECT_EQ(g.key, 10413732777507651514u);
  EXPECT_EQ(g.low, 0u);
  EXPECT_EQ(g.high, 17830669156045600267u);
}

TEST(KernelsRandom, UniformBitsAreTensorFlows) {
  EXPECT_EQ(hash_of(uniform<half>(kStateless)), 0x272a0ed8b5451679u);
  EXPECT_EQ(hash_of(uniform<bfloat>(kStateless)), 0x3e7abb8d3c2fb375u);
  EXPECT_EQ(hash_of(uniform<float>(kStateless)), 0x5434a9a61c221138u);
  EXPECT_EQ(hash_of(uniform<double>(kStateless)), 0x6f889e4a1d1a236bu);
  EXPECT_EQ(hash_of(uniform<half>(kStateless, kCount, -0.3, 1.7)), 0x8b8483d3208ceef3u);
  EXPECT_EQ(hash_of(uniform<bfloat>(kStateless, kCount, -0.3, 1.7)), 0x73408fe1b6c95c01u);
  EXPECT_EQ(hash_of(uniform<float>(kStateless, kCount, -0.3, 1.7)), 0x954ac7ff7414a007u);
  EXPECT_EQ(hash_of(uniform<double>(kStateless, kCount, -0.3, 1.7)), 0xd64419497af7fae6u);
}

TEST(KernelsRandom, IntegersAreTensorFlows) {
  EXPECT_EQ(hash_of(integers<std::int32_t>(-30, 1030)), 0xd93512e4cc83d5b4u);
  EXPECT_EQ(hash_of(integers<std::int32_t>(0, 0)), 0xccfc7dbda8fbd176u);
  EXPECT_EQ(hash_of(integers<std::uint32_t>(0, 0)), 0xccfc7dbda8fbd176u);
  EXPECT_EQ(hash_of(integers<std::int64_t>(-30, 1030)), 0xf710ad27f2aba29eu);
  EXPECT_EQ(hash_of(integers<std::int64_t>(0, 0)), 0x61e66b7680212169u);
  EXPECT_EQ(hash_of(integers<std::uint64_t>(0, 0)), 0x61e66b7680212169u);
  EXPECT_EQ(hash_of(integers<std::int64_t>(-1000000000000000, 101000000000000000)),
            0x1ad230501b00195au);
}

TEST(KernelsRandom, StatefulOpsGoOnWhereTheyStopped) {
  Philox g = Philox::from_op_seeds(7, 9);
  EXPECT_EQ(hash_of(uniform<float>(g)), 0x648256164ee8df24u);
  g.skip(Philox::reserved(kCount));
  EXPECT_EQ(hash_of(uniform<float>(g)), 0xfa256ce021c2fa6cu);
}

TEST(KernelsRandom, SetSeed) {
  struct Row {
    std::int64_t seed;
    std::vector<float> first, second, third;
  };
  for (const Row& row : std::vector<Row>{{42,
                                          {0x1.54417cp-1f, 0x1.c39748p-2f, 0x1.695a08p-2f},
                                          {0x1.603348p-1f, 0x1.f01b38p-2f, 0x1.dcab4cp-1f},
                                          {0x1.7b949p-1f, 0x1.41d0dp-1f, 0x1.1cd48p-6f}},
                                         {0,
                                          {0x1.2afb88p-2f, 0x1.a70c5p-3f, 0x1.121ebcp-1f},
                                          {0x1.1c5f3cp-1f, 0x1.c5354p-3f, 0x1.bad77p-1f},
                                          {0x1.8fcc4p-3f, 0x1.7af7fcp-1f, 0x1.f3825p-2f}},
                                         {-3,
                                          {0x1.5a4e3cp-1f, 0x1.321f5p-3f, 0x1.02688p-3f},
                                          {0x1.6ce038p-2f, 0x1.1bde84p-1f, 0x1.1f6f24p-1f},
                                          {0x1.e02c28p-1f, 0x1.5dd5bcp-1f, 0x1.1e9798p-2f}},
                                         {1099511627783,
                                          {0x1.67be4p-1f, 0x1.a6fdcp-4f, 0x1.5e961p-1f},
                                          {0x1.934678p-2f, 0x1.5ddda8p-1f, 0x1.2aa614p-1f},
                                          {0x1.b1ea04p-1f, 0x1.3cb3a8p-2f, 0x1.92032p-2f}},
                                         {2147483647,
                                          {0x1.ccf8fp-3f, 0x1.d42c78p-1f, 0x1.f14dep-1f},
                                          {0x1.1a272p-4f, 0x1.98e82cp-1f, 0x1.b83168p-2f},
                                          {0x1.017c14p-1f, 0x1.2025b4p-1f, 0x1.e20b9p-2f}}}) {
    OpSeeds seeds(row.seed);
    for (const std::vector<float>& wanted : {row.first, row.second, row.third}) {
      const OpSeeds::Pair pair = seeds.next();
      EXPECT_EQ(uniform<float>(Philox::from_op_seeds(pair.seed, pair.seed2), 3), wanted)
          << row.seed;
    }
  }
}

TEST(KernelsRandom, OpSeeds) {
  OpSeeds seeds(0);
  for (const std::int64_t wanted : {1654615998, 1806341205, 173879092, 1112038970})
    EXPECT_EQ(seeds.next().seed2, wanted);
  EXPECT_EQ(seeds.with_op_seed(0).seed, 0);
  EXPECT_EQ(seeds.with_op_seed(0).seed2, 2147483647);  // never (0, 0)
  EXPECT_EQ(seeds.with_op_seed(-1).seed2, 2147483646);
  EXPECT_EQ(OpSeeds(-3).with_op_seed(5).seed, 2147483644);
  EXPECT_EQ(OpSeeds(1099511627783).with_op_seed(5).seed, 519);
  EXPECT_EQ(OpSeeds::without_global_seed(5).seed, 87654321);
}

TEST(KernelsRandom, GeneratorCounterRunsOverInTheMiddle) {
  Philox g = Philox::from_state({-3, -1, 77});
  const std::vector<float> wanted = {
      0x1.d6accp-3f,  0x1.b04f6p-4f,  0x1.84d19p-2f,  0x1.bfcp-4f,    0x1.28969p-3f,
      0x1.0fcbd4p-1f, 0x1.d8de48p-2f, 0x1.c68764p-1f, 0x1.f574c8p-1f, 0x1.1db3d4p-1f,
      0x1.130eap-2f,  0x1.86769p-3f,  0x1.1c95bcp-1f, 0x1.d7adbcp-1f, 0x1.f5f554p-1f,
      0x1.583a08p-1f, 0x1.e0bdacp-1f, 0x1.42c254p-1f, 0x1.e41228p-1f, 0x1.801c0cp-1f};
  EXPECT_EQ(uniform<float>(g, 20), wanted);
  g.skip(Philox::reserved(20));
  EXPECT_EQ(g.low, 5117u);
  EXPECT_EQ(g.high, 0u);
}

// Units in the last place between two floats of the same sign.
std::int64_t ulps(float a, float b) {
  std::int32_t x, y;
  std::memcpy(&x, &a, 4);
  std::memcpy(&y, &b, 4);
  return std::abs(std::int64_t{x} - y);
}

TEST(KernelsRandom, NormalNumbersAreTensorFlowsToThreeUlps) {
  const float wanted[] = {-0x1.a90712p+0f, 0x1.4f4d0cp+0f,  -0x1.5af114p-2f, -0x1.37c78ep-1f,
                          0x1.94b9d2p+0f,  -0x1.33444ap-1f, -0x1.854102p-2f, 0x1.32dd7ap-4f,
                          -0x1.1a3feap-1f, -0x1.bb7798p-4f, -0x1.7977d4p-2f, 0x1.070ffp+0f};
  const std::vector<float> z = normal<float>(kStateless);
  for (int i = 0; i < 12; ++i) EXPECT_LE(ulps(z[i], wanted[i]), 3) << i;
  EXPECT_LE(ulps(z.back(), 0x1.a08232p-3f), 3);
  const float scaled_wanted[] = {-0x1.8fac6ap+1f, 0x1.ed363p+0f, -0x1.c0801ep-1f, -0x1.55d008p+0f};
  const std::vector<float> scaled = normal<float>(kStateless, -0.3, 1.7);
  for (int i = 0; i < 4; ++i) EXPECT_LE(ulps(scaled[i], scaled_wanted[i]), 3);
  EXPECT_EQ(hash_of(normal<half>(kStateless)), 0x1fe6ddc2b308f84cu);
  EXPECT_EQ(hash_of(normal<half>(kStateless, -0.3, 1.7)), 0x4e1fc1fe00647a93u);
  EXPECT_EQ(hash_of(normal<bfloat>(kStateless)), 0x9d0f1e6e59fd4d94u);
  EXPECT_EQ(hash_of(normal<bfloat>(kStateless, -0.3, 1.7)), 0x7e31878d5488f5d9u);
}

TEST(KernelsRandom, NormalDoubles) {
  const double wanted[] = {0x1.1ad7b2ce17448p-1,  -0x1.6c5de827a11bcp-4, 0x1.98e867de46629p-3,
                           -0x1.7c88d1e1c5219p-2, 0x1.519d0e23367e5p-2,  -0x1.04852524b75dcp-1,
                           -0x1.2349054aa42cdp+0, -0x1.fe64ea118c46cp-1, -0x1.6f046a8c8fd14p+0,
                           0x1.a3ecd673867c1p-1,  -0x1.39d76a20d6cc4p-2, 0x1.ad191b7f95c43p-1};
  const std::vector<double> z = normal<double>(kStateless);
  for (int i = 0; i < 12; ++i) EXPECT_NEAR(z[i], wanted[i], 4e-16);
  EXPECT_NEAR(z.back(), 0x1.69d3eee91501cp-9, 1e-17);
}

TEST(KernelsRandom, TruncatedNormal) {
  const float wanted[] = {-0x1.a90712p+0f, 0x1.4f4d0cp+0f,  -0x1.5af114p-2f, -0x1.37c78ep-1f,
                          0x1.65f746p-6f,  -0x1.c2639ep-1f, -0x1.00e358p+0f, 0x1.c37ecap-1f,
                          0x1.e69518p+0f,  0x1.41db48p-2f,  0x1.767482p+0f,  0x1.103d24p-1f,
                          0x1.28f5bcp-4f,  0x1.eb4c12p-1f,  -0x1.088bcp-1f,  0x1.d86672p-2f,
                          0x1.1a032ep-2f,  -0x1.9e9886p-1f, 0x1.be9058p-1f,  -0x1.68bdaap+0f,
                          0x1.0af63p-2f,   -0x1.615172p-3f, 0x1.10b5d4p-1f,  0x1.fd7dd8p-1f};
  const std::vector<float> z = truncated<float>(kStateless);
  for (int i = 0; i < 24; ++i) EXPECT_LE(ulps(z[i], wanted[i]), 3) << i;
  EXPECT_LE(ulps(z.back(), -0x1.1b3e6ep-5f), 3);
  EXPECT_EQ(hash_of(truncated<half>(kStateless)), 0xb59952ee70df31a4u);
  EXPECT_EQ(hash_of(truncated<bfloat>(kStateless)), 0x77d729905d76cfc5u);
  const double doubles[] = {0x1.1ad7b2ce17448p-1, -0x1.6c5de827a11bcp-4, -0x1.0c7b849c1cfabp-1,
                            0x1.86bc07af92dfcp+0, 0x1.46ad9fc0ed47fp+0,  -0x1.cc60a6d9b7e63p-3};
  const std::vector<double> d = truncated<double>(kStateless);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(d[i], doubles[i], 4e-16);
  EXPECT_NEAR(d.back(), -0x1.abc32d7051174p-5, 1e-16);
  for (const double x : d) EXPECT_LT(std::abs(x), 2.0);
}

TEST(KernelsRandom, Shuffle) {
  OpSeeds seeds(1);
  const OpSeeds::Pair pair = seeds.next();
  std::vector<std::int64_t> order(12);
  random_order(Philox::from_op_seeds(pair.seed, pair.seed2), 12, order.data());
  EXPECT_EQ(order, (std::vector<std::int64_t>{6, 0, 9, 5, 1, 3, 10, 8, 7, 11, 4, 2}));
  order.resize(5000);
  random_order(Philox::from_op_seeds(3, 4), 5000, order.data());
  EXPECT_EQ(hash_of(order), 0x62b0285c2763224du);
}

TEST(KernelsRandom, KeepMaskIsTheComparisonOfUniformNumbers) {
  for (const double rate : {0.0, 0.3, 0.9999}) {
    std::vector<char> keep(kCount);
    const auto check = [&]<class T>(T) {
      random_keep_mask(dtype_v<T>, kStateless, kCount, rate, reinterpret_cast<bool*>(keep.data()));
      const std::vector<T> u = uniform<T>(kStateless);
      for (std::int64_t i = 0; i < kCount; ++i)
        ASSERT_EQ(keep[i] != 0, u[i] >= T(static_cast<float>(rate))) << name_of(dtype_v<T>);
    };
    check(half{});
    check(bfloat{});
    check(float{});
  }
}

TEST(KernelsRandom, SameBitsAtAnyNumberOfThreadsAndSplit) {
  const int before = thread_count();
  const std::int64_t n = 200003;
  std::vector<float> one(n), three(n), part(1000);
  set_thread_count(1);
  random_truncated_normal(float32, kStateless, n, 0, 1, one.data());
  set_thread_count(3);
  random_truncated_normal(float32, kStateless, n, 0, 1, three.data());
  set_thread_count(before);
  EXPECT_EQ(one, three);
  random_normal(float32, kStateless, n, 0, 1, one.data());
  Philox later = kStateless;
  later.skip(25000);
  random_normal(float32, later, 1000, 0, 1, part.data());
  EXPECT_TRUE(std::equal(part.begin(), part.end(), one.begin() + 100000));
}

TEST(KernelsRandom, SameBitsOnEveryInstructionSetOfThisMachine) {
  std::vector<const RandomLoops*> sets = {&baseline::random_loops};
  if (isa() >= Isa::avx2) sets.push_back(&avx2::random_loops);
  if (isa() >= Isa::avx512) sets.push_back(&avx512::random_loops);
  std::vector<std::uint32_t> words(4 * 101), other(words.size());
  std::vector<float> z(words.size()), w(words.size());
  sets[0]->words(99, 5, 6, 3, 101, words.data());
  sets[0]->normal32(words.data(), 202, z.data());
  for (std::size_t i = 0; i < 101; ++i) {
    const auto block = Philox{99, 5 + 3 * i, 6}.block();
    ASSERT_TRUE(std::equal(block.begin(), block.end(), words.begin() + 4 * i));
  }
  for (const RandomLoops* set : sets) {
    set->words(99, 5, 6, 3, 101, other.data());
    EXPECT_EQ(words, other);
    set->normal32(words.data(), 202, w.data());
    EXPECT_EQ(z, w);
  }
}

TEST(KernelsRandom, Moments) {
  const std::int64_t n = 1 << 20;
  std::vector<float> z(n);
  random_normal(float32, Philox::from_op_seeds(1, 1), n, 0, 1, z.data());
  double sum = 0, squares = 0, fourth = 0;
  for (const float x : z) {
    sum += x;
    squares += double{x} * x;
    fourth += double{x} * x * x * x;
  }
  EXPECT_NEAR(sum / n, 0, 0.004);
  EXPECT_NEAR(squares / n, 1, 0.006);
  EXPECT_NEAR(fourth / n, 3, 0.04);
}

}  // namespace
}  // namespace gradus::kernels
