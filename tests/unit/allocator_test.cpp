#include "tensor/allocator.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "gradus/error.h"
#include "tensor/page_heap.h"
#include "tensor/size_class.h"

namespace gradus {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCaches = false;
#else
constexpr bool kCaches = true;
#endif

struct Held {
  void* p;
  std::size_t bytes;
  int mark;
};

Held take(std::size_t bytes, int mark) {
  void* p = allocate(bytes);
  std::memset(p, mark, bytes);
  return {p, bytes, mark};
}

// True if the block still holds what take() wrote; frees it.
bool give_back(const Held& h) {
  const auto* bytes = static_cast<const unsigned char*>(h.p);
  bool whole = true;
  const std::size_t step = h.bytes > 4096 ? 997 : 1;
  for (std::size_t i = 0; i < h.bytes; i += step) whole &= bytes[i] == h.mark;
  if (h.bytes > 0) whole &= bytes[h.bytes - 1] == h.mark;
  deallocate(h.p, h.bytes);
  return whole;
}

TEST(Allocator, BlocksAreAlignedDistinctAndWritable) {
  std::vector<Held> held;
  int mark = 0;
  for (std::size_t n = 1; n <= 4 * MiB; n = n * 5 / 4 + 1)
    for (const std::size_t bytes : {n, n + 63, (n + 63) / 64 * 64})
      held.push_back(take(bytes, ++mark % 256));
  for (std::size_t power = 0; power <= 22; ++power)
    for (const int off : {-1, 0, 1})
      if (const std::size_t bytes = (std::size_t{1} << power) + static_cast<std::size_t>(off))
        held.push_back(take(bytes, ++mark % 256));
  for (const Held& h : held) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(h.p) % 64, 0u) << h.bytes;
    EXPECT_TRUE(give_back(h)) << h.bytes;
  }
}

TEST(SizeClass, IsTheSmallestThatFits) {
  for (std::size_t bytes = 1; bytes <= kLargestCached; bytes += bytes < 70000 ? 1 : 61) {
    const int c = class_of(bytes);
    ASSERT_LT(c, kClasses);
    ASSERT_GE(class_size(c), bytes);
    ASSERT_EQ(class_size(c) % 64, 0u);
    ASSERT_TRUE(c == 0 || class_size(c - 1) < bytes);
  }
  for (std::size_t power = 64; power <= MiB; power *= 2)
    EXPECT_EQ(class_size(class_of(kHeader + power)), kHeader + power);
}

TEST(Allocator, ZeroBytesAndNull) {
  void *a = allocate(0), *b = allocate(0);
  EXPECT_NE(a, nullptr);
  EXPECT_NE(a, b);
  deallocate(a, 0);
  deallocate(b, 0);
  deallocate(nullptr, 100);
}

TEST(Allocator, RandomSizesInRandomOrderNeverOverlap) {
  std::mt19937 random(7);
  std::vector<Held> held;
  for (int i = 0; i < 20000; ++i) {
    if (held.empty() || (held.size() < 300 && random() % 2 == 0)) {
      const std::size_t most = std::size_t{1} << (random() % (i % 50 == 0 ? 23 : 16));
      held.push_back(take(1 + random() % most, static_cast<int>(random() % 256)));
    } else {
      std::swap(held[random() % held.size()], held.back());
      ASSERT_TRUE(give_back(held.back()));
      held.pop_back();
    }
  }
  for (const Held& h : held) EXPECT_TRUE(give_back(h));
}

TEST(Allocator, FreedMemoryIsUsedAgain) {
  if (!kCaches) GTEST_SKIP();
  for (const std::size_t bytes : {std::size_t{100}, 20 * KiB, MiB, 5 * MiB}) {
    void* first = allocate(bytes);
    deallocate(first, bytes);
    void* second = allocate(bytes);
    EXPECT_EQ(first, second) << bytes;
    deallocate(second, bytes);
  }
}

TEST(Allocator, CountsLivePeakAndReserved) {
  const MemoryStats before = memory_stats();
  void *a = allocate(100), *b = allocate(10 * MiB);
  EXPECT_EQ(memory_stats().live, before.live + 128 + 10 * MiB);
  EXPECT_GE(memory_stats().reserved, memory_stats().live);
  deallocate(b, 10 * MiB);
  EXPECT_EQ(memory_stats().live, before.live + 128);
  EXPECT_GE(memory_stats().peak, before.live + 128 + 10 * MiB);
  reset_peak_memory();
  EXPECT_EQ(memory_stats().peak, memory_stats().live);
  deallocate(a, 100);
  EXPECT_EQ(memory_stats().peak, before.live + 128);
  EXPECT_EQ(memory_stats().live, before.live);
}

TEST(Allocator, PeakIsExactForOneThread) {
  reset_peak_memory();
  const std::size_t before = memory_stats().live;
  std::mt19937 random(3);
  std::vector<std::size_t> held;
  std::vector<void*> blocks;
  std::size_t live = 0, peak = 0;
  for (int i = 0; i < 5000; ++i) {
    if (held.empty() || random() % 5 < 3) {
      held.push_back((1 + random() % 2000) * 64);
      blocks.push_back(allocate(held.back()));
      live += held.back();
      peak = std::max(peak, live);
    } else {
      deallocate(blocks.back(), held.back());
      live -= held.back();
      blocks.pop_back();
      held.pop_back();
    }
  }
  EXPECT_EQ(memory_stats().live - before, live);
  EXPECT_EQ(memory_stats().peak - before, peak);
  for (std::size_t i = 0; i < held.size(); ++i) deallocate(blocks[i], held[i]);
  EXPECT_EQ(memory_stats().live, before);
}

TEST(Allocator, BlocksMayBeFreedOnAnotherThread) {
  const std::size_t before = memory_stats().live;
  for (int round = 0; round < 5; ++round) {
    std::vector<Held> held;
    std::thread([&] {
      for (int i = 0; i < 3000; ++i) held.push_back(take(1 + (i * 37) % 5000, i % 256));
    }).join();
    std::atomic<bool> whole{true};
    std::thread([&] {
      for (const Held& h : held) whole = whole && give_back(h);
    }).join();
    EXPECT_TRUE(whole);
    EXPECT_EQ(memory_stats().live, before);
  }
}

TEST(Allocator, ManyThreadsAtOnce) {
  const std::size_t before = memory_stats().live;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      std::vector<Held> held;
      for (int i = 0; i < 3000; ++i) {
        held.push_back(take(1 + random() % (i % 100 == 0 ? 3 * MiB : 3000), i % 256));
        if (held.size() > 20) {
          wrong += !give_back(held.front());
          held.erase(held.begin());
        }
      }
      for (const Held& h : held) wrong += !give_back(h);
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(memory_stats().live, before);
}

TEST(Allocator, AThreadThatEndsGivesItsCacheBack) {
  if (!kCaches) GTEST_SKIP();
  const auto use_a_lot = [] {
    std::vector<Held> held;
    for (int i = 0; i < 2000; ++i) held.push_back(take(4096, 1));
    for (const Held& h : held) give_back(h);
  };
  std::thread(use_a_lot).join();
  const std::size_t after_one = memory_stats().reserved;
  for (int i = 0; i < 20; ++i) std::thread(use_a_lot).join();
  EXPECT_LE(memory_stats().reserved, after_one);
}

TEST(Allocator, ChangingSizesDoNotGrowMemoryWithoutBound) {
  if (!kCaches) GTEST_SKIP();
  trim_memory();
  const std::size_t before = memory_stats().reserved;
  for (std::size_t i = 0; i < 400; ++i) {  // 400 different sizes, at most 3 alive
    const std::size_t bytes = 6 * MiB + i * 100000;
    void *a = allocate(bytes), *b = allocate(bytes / 2), *c = allocate(bytes / 3);
    deallocate(a, bytes);
    deallocate(c, bytes / 3);
    deallocate(b, bytes / 2);
  }
  EXPECT_LT(memory_stats().reserved - before, 400 * MiB);
  // Small blocks of one size after another: what one size no longer needs, the next can use.
  trim_memory();
  for (std::size_t bytes = 64; bytes <= 16 * KiB; bytes += 512) {
    std::vector<void*> blocks(16 * MiB / bytes);
    for (void*& p : blocks) p = allocate(bytes);
    for (void* p : blocks) deallocate(p, bytes);
  }
  EXPECT_LT(memory_stats().reserved - before, 128 * MiB);
}

TEST(Allocator, TrimReturnsEverythingUnused) {
  if (!kCaches) GTEST_SKIP();
  std::vector<Held> held;
  for (const std::size_t bytes : {std::size_t{64}, 5 * KiB, 100 * KiB, 40 * MiB})
    held.push_back(take(bytes, 1));
  for (const Held& h : held) give_back(h);
  trim_memory();
  const MemoryStats now = memory_stats();
  EXPECT_LE(now.reserved, now.live + 8 * MiB);
  EXPECT_TRUE(give_back(take(40 * MiB, 2)));
}

TEST(Allocator, OutOfMemoryIsAnErrorAfterWhichAllIsWell) {
  trim_memory();
  set_memory_limit(memory_stats().reserved + 100 * MiB);
  const Held a = take(60 * MiB, 5);
  try {
    allocate(70 * MiB + 1);
    ADD_FAILURE() << "the limit was not kept";
  } catch (const ResourceExhaustedError& e) {
    EXPECT_NE(std::string(e.what()).find(std::to_string(70 * MiB + 1)), std::string::npos)
        << e.what();
  }
  EXPECT_TRUE(give_back(take(1000, 1)));
  EXPECT_TRUE(give_back(a));
  // The 60 MiB that are kept for reuse do not fit, and are given back to make room.
  EXPECT_TRUE(give_back(take(90 * MiB, 3)));
  std::vector<Held> held;
  EXPECT_THROW(
      {
        for (;;) held.push_back(take(3 * MiB, 9));
      },
      ResourceExhaustedError);
  EXPECT_GE(held.size(), 25u);
  for (const Held& h : held) EXPECT_TRUE(give_back(h));
  set_memory_limit(0);
  EXPECT_TRUE(give_back(take(101 * MiB, 3)));
}

TEST(Allocator, SmallBlocksAlsoKeepTheLimit) {
  trim_memory();
  set_memory_limit(memory_stats().reserved + 10 * MiB);
  std::vector<void*> blocks;
  EXPECT_THROW(
      {
        for (;;) blocks.push_back(allocate(1000));
      },
      ResourceExhaustedError);
  EXPECT_GE(blocks.size(), 4000u);
  set_memory_limit(0);
  blocks.push_back(allocate(1000));
  for (void* p : blocks) deallocate(p, 1000);
}

TEST(Allocator, MoreThanTheMachineHasIsRefusedNotMapped) {
  const std::size_t before = memory_stats().live;
  for (const std::size_t bytes :
       {std::size_t{1} << 46, std::size_t{1} << 48, (std::size_t{1} << 48) + 1, ~std::size_t{0},
        static_cast<std::size_t>(-1000), 64 * 1024 * GiB})
    EXPECT_THROW(allocate(bytes), ResourceExhaustedError) << bytes;
  EXPECT_EQ(memory_stats().live, before);
  EXPECT_TRUE(give_back(take(MiB, 1)));
}

struct AllocatesLate {
  std::atomic<int>* done;
  ~AllocatesLate() {
    const Held small = take(100, 1), large = take(3 * MiB, 2);
    *done += give_back(small) && give_back(large);
  }
};

TEST(Allocator, WorksInTheDestructorsOfThreadLocals) {
  std::atomic<int> done{0};
  const std::size_t before = memory_stats().live;
  std::thread([&] {
    // Made before the thread's first allocation, hence destroyed after its cache.
    thread_local AllocatesLate late{&done};
    (void)late;
    give_back(take(100, 1));
  }).join();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(memory_stats().live, before);
}

TEST(Allocator, WorksInAForkedChild) {
  const Held kept = take(5000, 42);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) {
      const Held a = take(777, 1), b = take(3 * MiB, 2);
      give_back(a);
      give_back(b);
    }
  });
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      bool ok = give_back(kept);
      for (std::size_t n = 1; n < 8 * MiB; n *= 3) ok = ok && give_back(take(n, 3));
      _exit(ok ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  busy.join();
  EXPECT_TRUE(give_back(kept));
}

#if defined(__SANITIZE_ADDRESS__)
TEST(AllocatorDeathTest, AddressSanitizerSeesUseAfterFree) {
  EXPECT_DEATH(
      {
        auto* p = static_cast<volatile char*>(allocate(100));
        deallocate(const_cast<char*>(p), 100);
        p[3] = 1;
      },
      "use-after-free");
}
#endif

TEST(PageHeap, BestFitSplitsAndJoins) {
  PageHeap heap(4096);
  EXPECT_EQ(heap.take(4096), nullptr);
  ASSERT_TRUE(heap.grow(MiB, GiB));
  EXPECT_EQ(heap.reserved_bytes(), 2 * MiB);
  auto* a = static_cast<std::byte*>(heap.take(8192));
  auto* b = static_cast<std::byte*>(heap.take(4096));
  auto* c = static_cast<std::byte*>(heap.take(100));  // rounded up
  auto* d = static_cast<std::byte*>(heap.take(4096));
  EXPECT_EQ(b, a + 8192);
  EXPECT_EQ(c, b + 4096);
  EXPECT_EQ(d, c + 4096);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % (2 * MiB), 0u);
  heap.give(a);
  heap.give(c);
  EXPECT_EQ(heap.take(4096), c);  // the tightest fit, not the first
  heap.give(c);
  heap.give(b);
  EXPECT_EQ(heap.take(16384), a);  // a, b and c have become one
  heap.release(0);
  EXPECT_EQ(heap.reserved_bytes(), 2 * MiB);  // in use: stays
  heap.give(a);
  heap.give(d);
  EXPECT_EQ(heap.free_bytes(), 2 * MiB);
  EXPECT_EQ(heap.take(2 * MiB), a);
  heap.give(a);
  heap.release(0);
  EXPECT_EQ(heap.reserved_bytes(), 0u);
  EXPECT_EQ(heap.free_bytes(), 0u);
}

TEST(PageHeap, RegionsAreNeverJoined) {
  PageHeap heap(4096);
  std::vector<void*> regions;
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(heap.grow(2 * MiB, 2 * MiB));
    regions.push_back(heap.take(2 * MiB));
  }
  for (void* p : regions) heap.give(p);
  EXPECT_EQ(heap.take(2 * MiB + 1), nullptr);
  heap.release(3 * MiB);
  EXPECT_EQ(heap.reserved_bytes(), 2 * MiB);
}

TEST(PageHeap, KeepsItsAllowance) {
  PageHeap heap(4096);
  EXPECT_FALSE(heap.grow(4 * MiB, 4 * MiB - 1));
  EXPECT_TRUE(heap.grow(4 * MiB, 4 * MiB));
  heap.take(4 * MiB);
  EXPECT_EQ(heap.free_bytes(), 0u);
}

}  // namespace
}  // namespace gradus
