// How a region (one parallel_for) is shared.
//
// The caller describes the region on its own stack and publishes it through two words:
//   region   where the description is
//   ticket   epoch (40 bits) | number of claims left (24 bits)
// A claim is one compare-and-swap of `ticket` from (epoch, left) to (epoch, left - 1), left > 0.
// It can only succeed while that region is open, and the caller does not return before every
// successful claim is counted in `finished`. Hence a thread that loads `region` between reading
// the ticket and a successful swap holds a valid description, and a thread that comes late fails
// to swap and touches nothing. Nobody ever waits for a thread that has not claimed something.
//
// Workers spin on `ticket` for a moment after their last work, then sleep on `wake_word`.
// All state is static and trivially destructible and the workers are detached: there is nothing
// to tear down at exit, and a worker asleep during static destruction cannot be hurt by it.
#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <bitset>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "gradus/interrupt.h"
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace gradus {
namespace {

constexpr int kMaxThreads = 1024;
constexpr std::uint64_t kLeftBits = 24, kLeftMask = (1u << kLeftBits) - 1;
constexpr std::int64_t kMaxClaims = kLeftMask;
constexpr auto kSpin = std::chrono::microseconds(40);

struct Region {
  FunctionRef<void(std::int64_t)> body;
  std::int64_t chunks;
  std::int64_t run;          // one claim is this many consecutive chunks
  std::uint32_t claims;      // chunks / run, rounded up
  unsigned float_mode;       // the caller's rounding and denormal mode, used by all
  std::uint32_t fork_count;  // to notice a fork from inside a body
  std::atomic<bool> failed{false};
  std::exception_ptr error{};  // written by the one who set `failed`
};

struct Pool {
  alignas(64) std::atomic<std::uint64_t> ticket{0};
  std::atomic<Region*> region{nullptr};
  alignas(64) std::atomic<std::uint32_t> finished{0};
  std::atomic<bool> caller_sleeps{false};
  alignas(64) std::atomic<bool> busy{false};  // a region is open; its caller owns the pool
  std::atomic<std::uint32_t> sleepers{0};
  std::atomic<std::uint32_t> wake_word{0};
  std::atomic<int> threads{0};      // wanted, caller included; 0 until somebody asks
  std::atomic<int> started_for{0};  // the value of `threads` that workers were started for
  std::atomic<std::uint32_t> fork_count{0};
  std::mutex start_mutex;            // guards the start and the end of workers
  std::bitset<kMaxThreads> running;  // by worker index, under start_mutex
};
static_assert(std::is_trivially_destructible_v<Pool>);
constinit Pool pool;

constinit thread_local bool inside_region = false;  // nested calls run inline

unsigned float_mode() {
#if defined(__x86_64__)
  return _mm_getcsr() & 0xffc0u;
#else
  return 0;
#endif
}

void set_float_mode([[maybe_unused]] unsigned mode) {
#if defined(__x86_64__)
  if (float_mode() != mode) _mm_setcsr((_mm_getcsr() & ~0xffc0u) | mode);
#endif
}

void cpu_relax() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

// Spins until `ready` or until kSpin has passed; says which.
template <class Ready>
bool spin_until(Ready ready) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      cpu_relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

bool work_is_open() { return (pool.ticket.load() & kLeftMask) != 0; }

// Drops all claims nobody has made; returns how many. The caller of this holds a claim, so the
// region is open and the epoch stands still.
std::uint32_t drop_open_claims() {
  std::uint64_t t = pool.ticket.load();
  while (!pool.ticket.compare_exchange_weak(t, t & ~kLeftMask)) {
  }
  return static_cast<std::uint32_t>(t & kLeftMask);
}

// Runs one claim; returns how many claims are settled by it.
std::uint32_t run_claim(Region& r, std::int64_t claim) {
  try {
    const std::int64_t end = std::min(r.chunks, (claim + 1) * r.run);
    for (std::int64_t chunk = claim * r.run; chunk < end; ++chunk) {
      check_interrupt();
      r.body(chunk);
    }
    return 1;
  } catch (...) {
    if (!r.failed.exchange(true)) r.error = std::current_exception();
    return 1 + drop_open_claims();
  }
}

// Claims and runs until nothing is left.
void work() {
  std::uint64_t t = pool.ticket.load(std::memory_order_acquire);
  while ((t & kLeftMask) != 0) {
    Region* r = pool.region.load(std::memory_order_relaxed);
    if (!pool.ticket.compare_exchange_weak(t, t - 1, std::memory_order_acq_rel,
                                           std::memory_order_acquire))
      continue;
    set_float_mode(r->float_mode);
    const auto left = static_cast<std::int64_t>(t & kLeftMask);
    const std::uint32_t settled = run_claim(*r, r->claims - left);
    pool.finished.fetch_add(settled);  // the region may end here: *r is not ours any more
    if (pool.caller_sleeps.load()) pool.finished.notify_one();
    t = pool.ticket.load(std::memory_order_acquire);
  }
}

bool worker_may_end(int index) {
  const std::lock_guard lock(pool.start_mutex);
  if (index + 1 < pool.threads.load()) return false;
  pool.running.reset(static_cast<std::size_t>(index));
  return true;
}

void worker_main(int index) {
  inside_region = true;
  for (;;) {
    if (index + 1 >= pool.threads.load() && worker_may_end(index)) return;
    work();
    if (spin_until(work_is_open)) continue;
    const std::uint32_t seen = pool.wake_word.load();
    pool.sleepers.fetch_add(1);
    // Whoever opens a region or changes `threads` first does so and then looks at `sleepers`; we
    // first count ourselves and then look. One of the two always sees the other.
    if (!work_is_open() && index + 1 < pool.threads.load()) pool.wake_word.wait(seen);
    pool.sleepers.fetch_sub(1);
  }
}

void wake(std::uint32_t wanted) {
  const std::uint32_t asleep = pool.sleepers.load();
  if (asleep == 0) return;
  pool.wake_word.fetch_add(1);
  if (wanted >= asleep) {
    pool.wake_word.notify_all();
  } else {
    for (; wanted > 0; --wanted) pool.wake_word.notify_one();
  }
}

// In a forked child the workers do not exist. If the fork came from inside a body on the caller's
// thread, its region stays open; the caller finishes what is unclaimed and reports what is lost.
void after_fork_in_child() {
  pool.running.reset();
  pool.started_for.store(0);
  pool.sleepers.store(0);
  pool.fork_count.fetch_add(1);
  if (!inside_region) {
    pool.ticket.store(pool.ticket.load() & ~kLeftMask);
    pool.caller_sleeps.store(false);
    pool.busy.store(false);
  }
  pool.start_mutex.unlock();
}

void start_workers() {
  const std::lock_guard lock(pool.start_mutex);
  [[maybe_unused]] static const int fork_handlers = pthread_atfork(
      [] { pool.start_mutex.lock(); }, [] { pool.start_mutex.unlock(); }, after_fork_in_child);
  const int threads = pool.threads.load();
  // Signals belong to the host's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (int i = 0; i + 1 < threads; ++i) {
      if (pool.running.test(static_cast<std::size_t>(i))) continue;
      std::thread thread(worker_main, i);
      pthread_setname_np(thread.native_handle(), "gradus-worker");
      thread.detach();
      pool.running.set(static_cast<std::size_t>(i));
    }
  } catch (const std::exception&) {
    // The system has no more threads to give: the caller does more of the work.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pool.started_for.store(threads);
}

void run_inline(std::int64_t chunks, FunctionRef<void(std::int64_t)> body) {
  for (std::int64_t i = 0; i < chunks; ++i) {
    check_interrupt();
    body(i);
  }
}

// Called by the thread that owns `busy`. Everything that was claimed is settled on return.
void run_shared(Region& r, int threads) {
  pool.finished.store(0, std::memory_order_relaxed);
  pool.region.store(&r, std::memory_order_relaxed);
  const std::uint64_t epoch = (pool.ticket.load(std::memory_order_relaxed) >> kLeftBits) + 1;
  pool.ticket.store((epoch << kLeftBits) | r.claims);
  wake(std::min(r.claims, static_cast<std::uint32_t>(threads)) - 1);
  work();
  const auto settled = [&] { return pool.finished.load() == r.claims; };
  if (settled() || spin_until(settled)) return;
  pool.caller_sleeps.store(true);
  for (std::uint32_t seen; (seen = pool.finished.load()) != r.claims;) {
    if (r.fork_count != pool.fork_count.load()) break;
    pool.finished.wait(seen);
  }
  pool.caller_sleeps.store(false);
}

// CPU seconds per second that the container grants, rounded up; 0 if there is no limit.
int container_quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return static_cast<int>(std::min<double>((quota + period - 1) / period, kMaxThreads));
}

int default_thread_count() {
  if (const char* text = std::getenv("GRADUS_NUM_THREADS")) {
    char* end = nullptr;
    const long n = std::strtol(text, &end, 10);
    if (end != text && *end == '\0' && n >= 1)
      return static_cast<int>(std::min<long>(n, kMaxThreads));
  }
  cpu_set_t cores;
  int n = sched_getaffinity(0, sizeof cores, &cores) == 0
              ? CPU_COUNT(&cores)
              : static_cast<int>(std::thread::hardware_concurrency());
  if (const int quota = container_quota(); quota > 0) n = std::min(n, quota);
  return std::clamp(n, 1, kMaxThreads);
}

}  // namespace

int thread_count() {
  int n = pool.threads.load(std::memory_order_relaxed);
  if (n != 0) [[likely]]
    return n;
  const int wanted = default_thread_count();
  return pool.threads.compare_exchange_strong(n, wanted) ? wanted : n;
}

void set_thread_count(int count) {
  if (count < 1 || count > kMaxThreads)
    fail<InvalidArgumentError>("[set_thread_count] got ", count, "; expected 1 to ", kMaxThreads);
  {
    const std::lock_guard lock(pool.start_mutex);
    pool.threads.store(count);
    pool.started_for.store(0);
  }
  wake(kMaxThreads);  // those that are now too many end
}

void parallel_for(std::int64_t chunks, FunctionRef<void(std::int64_t chunk)> body) {
  const int threads = thread_count();
  if (chunks <= 1 || threads == 1 || inside_region || pool.busy.load(std::memory_order_relaxed) ||
      pool.busy.exchange(true))
    return run_inline(chunks, body);

  if (pool.started_for.load(std::memory_order_relaxed) != threads) start_workers();
  const std::int64_t run = (chunks - 1) / kMaxClaims + 1;
  Region region{.body = body,
                .chunks = chunks,
                .run = run,
                .claims = static_cast<std::uint32_t>((chunks - 1) / run + 1),
                .float_mode = float_mode(),
                .fork_count = pool.fork_count.load(std::memory_order_relaxed)};
  inside_region = true;
  run_shared(region, threads);
  inside_region = false;
  const bool lost = pool.finished.load() != region.claims;
  pool.busy.store(false, std::memory_order_release);
  if (region.error) std::rethrow_exception(region.error);
  if (lost)
    fail<FailedPreconditionError>("[parallel_for] the process was forked from inside a parallel ",
                                  "region; in the child the chunks of other threads are lost");
}

}  // namespace gradus
