#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gradus/error.h"
#include "gradus/interrupt.h"

// ThreadSanitizer itself cannot start threads in the child of a process that had some.
#if defined(__SANITIZE_THREAD__)
constexpr bool kForkedChildMayStartThreads = false;
#else
constexpr bool kForkedChildMayStartThreads = true;
#endif

namespace gradus {
namespace {

class ThreadPool : public ::testing::Test {
 protected:
  void SetUp() override { set_thread_count(4); }
  void TearDown() override { set_thread_count(before_); }

 private:
  int before_ = thread_count();
};

int sum_in_parallel(int chunks) {
  std::atomic<int> sum{0};
  parallel_for(chunks, [&](std::int64_t i) { sum += static_cast<int>(i); });
  return sum;
}

// Runs f in a forked child and tells whether it returned true there.
template <class F>
bool true_in_child(F f) {
  const pid_t child = fork();
  if (child == 0) _exit(f() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void sleep_us(int us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }

// Runs regions until `done` or a few seconds have passed.
template <class Body, class Done>
bool run_until(Body body, Done done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!done() && std::chrono::steady_clock::now() < end)
    parallel_for(4, [&](std::int64_t i) { body(i); });
  return done();
}

TEST_F(ThreadPool, EveryChunkRunsExactlyOnce) {
  for (const int chunks : {0, 1, 2, 3, 7, 64, 1000}) {
    std::vector<std::atomic<int>> hits(static_cast<std::size_t>(chunks));
    parallel_for(chunks, [&](std::int64_t i) { ++hits[static_cast<std::size_t>(i)]; });
    for (const auto& h : hits) EXPECT_EQ(h, 1);
  }
  parallel_for(-5, [](std::int64_t) { FAIL() << "there is no chunk to run"; });
}

TEST_F(ThreadPool, ManyShortRegionsInARow) {
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(sum_in_parallel(5), 10);
}

TEST_F(ThreadPool, MoreChunksThanOneTicketCanCount) {
  std::atomic<std::int64_t> count{0};
  const std::int64_t chunks = (std::int64_t{1} << 24) + 12345;
  set_thread_count(2);
  parallel_for(chunks, [&](std::int64_t i) {
    if (i % 4096 == 0 || i == chunks - 1) ++count;
  });
  EXPECT_EQ(count, (chunks + 4095) / 4096 + ((chunks - 1) % 4096 != 0));
}

TEST_F(ThreadPool, WorkersTakePartAfterSpinningAndAfterSleeping) {
  for (const int gap : {0, 500}) {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    EXPECT_TRUE(run_until(
        [&](std::int64_t) {
          sleep_us(50 + gap);
          const std::lock_guard lock(mutex);
          seen.insert(std::this_thread::get_id());
        },
        [&] { return seen.size() == 4; }));
  }
}

TEST_F(ThreadPool, OneThreadRunsInOrderOnTheCaller) {
  set_thread_count(1);
  std::vector<std::int64_t> order;
  parallel_for(5, [&](std::int64_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST_F(ThreadPool, NestedCallsRunInline) {
  std::atomic<int> total{0};
  parallel_for(8, [&](std::int64_t) {
    const auto outer = std::this_thread::get_id();
    parallel_for(8, [&](std::int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      ++total;
    });
  });
  EXPECT_EQ(total, 64);
}

TEST_F(ThreadPool, AnExceptionReachesTheCallerAndThePoolLivesOn) {
  for (int thrower = 0; thrower < 50; ++thrower) {
    std::atomic<int> ran{0};
    try {
      parallel_for(50, [&](std::int64_t i) {
        ++ran;
        if (i == thrower) throw std::runtime_error("chunk failed");
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "chunk failed");
    }
    EXPECT_GE(ran, thrower + 1);
    EXPECT_EQ(sum_in_parallel(10), 45);
  }
  EXPECT_THROW(parallel_for(100, [](std::int64_t) { throw 7; }), int);
}

TEST_F(ThreadPool, EightHostThreadsAtOnce) {
  std::vector<std::thread> hosts;
  std::atomic<int> wrong{0};
  for (int h = 0; h < 8; ++h)
    hosts.emplace_back([&] {
      for (int i = 0; i < 2000; ++i)
        wrong += sum_in_parallel(1 + i % 9) != (i % 9) * (1 + i % 9) / 2;
    });
  for (auto& h : hosts) h.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ThreadPool, ThreadCountMayChangeAtAnyTime) {
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (int n = 1; !stop; n = n % 6 + 1) set_thread_count(n);
  });
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(sum_in_parallel(6), 15);
  stop = true;
  changer.join();
  EXPECT_THROW(set_thread_count(0), InvalidArgumentError);
  EXPECT_THROW(set_thread_count(-1), InvalidArgumentError);
  EXPECT_THROW(set_thread_count(100000), InvalidArgumentError);
}

TEST_F(ThreadPool, WorkersComeBackAfterShrinkingAndGrowing) {
  sum_in_parallel(4);
  set_thread_count(1);
  sleep_us(2000);
  set_thread_count(4);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  EXPECT_TRUE(run_until(
      [&](std::int64_t) {
        sleep_us(100);
        const std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
      },
      [&] { return seen.size() == 4; }));
}

TEST_F(ThreadPool, AForkedChildHasItsOwnWorkers) {
  if (!kForkedChildMayStartThreads) GTEST_SKIP();
  sum_in_parallel(4);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(true_in_child([] {
      std::mutex mutex;
      std::set<std::thread::id> seen;
      return sum_in_parallel(100) == 4950 && run_until(
                                                 [&](std::int64_t) {
                                                   sleep_us(100);
                                                   const std::lock_guard lock(mutex);
                                                   seen.insert(std::this_thread::get_id());
                                                 },
                                                 [&] { return seen.size() > 1; });
    }));
    EXPECT_EQ(sum_in_parallel(100), 4950);
  }
}

TEST_F(ThreadPool, ForkWhileAnotherThreadIsInARegion) {
  if (!kForkedChildMayStartThreads) GTEST_SKIP();
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) parallel_for(8, [](std::int64_t) { sleep_us(20); });
  });
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(true_in_child([] { return sum_in_parallel(9) == 36; }));
  stop = true;
  other.join();
}

TEST_F(ThreadPool, AForkInsideABodyEndsInAnErrorOrAResultButNeverHangs) {
  if (!kForkedChildMayStartThreads) GTEST_SKIP();
  for (int i = 0; i < 10; ++i) {
    const auto caller = std::this_thread::get_id();
    const pid_t parent = getpid();
    pid_t child = -1;
    bool lost = false;
    try {
      parallel_for(4, [&](std::int64_t) {
        if (std::this_thread::get_id() == caller && child == -1) child = fork();
        sleep_us(300);
      });
    } catch (const FailedPreconditionError&) {
      lost = true;
    }
    if (getpid() != parent) _exit(sum_in_parallel(9) == 36 ? 0 : 1);
    EXPECT_FALSE(lost);
    if (child == -1) continue;  // the workers took everything
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
}

TEST_F(ThreadPool, ExitWithSleepingAndSpinningWorkersIsClean) {
  if (!kForkedChildMayStartThreads) GTEST_SKIP();
  for (const int pause : {0, 1000}) {
    const pid_t child = fork();
    if (child == 0) {
      sum_in_parallel(100);
      sleep_us(pause);
      std::exit(17);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 17);
  }
}

TEST_F(ThreadPool, WorkersRoundAsTheCallerDoes) {
  const auto third = [] {
    volatile double one = 1, three = 3;
    return one / three;
  };
  double results[2];
  for (const int mode : {FE_UPWARD, FE_TONEAREST}) {
    std::fesetround(mode);
    const double expected = results[mode == FE_UPWARD] = third();
    std::atomic<int> wrong{0};
    for (int i = 0; i < 100; ++i)
      parallel_for(8, [&](std::int64_t) {
        wrong += third() != expected;
        sleep_us(5);
      });
    EXPECT_EQ(wrong, 0);
  }
  EXPECT_LT(results[0], results[1]);
}

TEST_F(ThreadPool, AnInterruptStopsALongRegion) {
  std::atomic<int> ran{0};
  std::thread user([&] {
    while (ran < 10) std::this_thread::yield();
    request_interrupt();
  });
  EXPECT_THROW(parallel_for(1 << 20,
                            [&](std::int64_t) {
                              ++ran;
                              sleep_us(10);
                            }),
               CancelledError);
  user.join();
  EXPECT_LT(ran, 1 << 20);
  EXPECT_THROW(check_interrupt(), CancelledError);
  EXPECT_THROW(sum_in_parallel(1), CancelledError);
  clear_interrupt();
  EXPECT_NO_THROW(check_interrupt());
  EXPECT_EQ(sum_in_parallel(10), 45);
}

int twice(int x) { return 2 * x; }

TEST(FunctionRef, CallsLambdasFunctionsAndConstObjects) {
  const auto call = [](FunctionRef<int(int)> f, int x) { return f(x); };
  int calls = 0;
  EXPECT_EQ(call(
                [&](int x) {
                  ++calls;
                  return x + 1;
                },
                4),
            5);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(call(twice, 4), 8);
  const auto negate = [](int x) { return -x; };
  EXPECT_EQ(call(negate, 4), -4);
  const FunctionRef<int(int)> original(twice);
  FunctionRef<int(int)> copy = original;
  EXPECT_EQ(copy(21), 42);
}

}  // namespace
}  // namespace gradus
