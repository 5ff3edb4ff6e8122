// The thread caches, the central store behind them, and the counters.
//
// Counters: each thread counts what it hands out and takes back in its own `unflushed`, and adds
// that to the shared `live` when it passes 256 KiB either way. `top` is the largest `unflushed`
// since then: shared live + top is the exact peak as long as one thread allocates.
#include "tensor/allocator.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>

#include "base/check.h"
#include "base/system_memory.h"
#include "tensor/block_span.h"
#include "tensor/page_heap.h"
#include "tensor/size_class.h"

namespace gradus {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kPassThrough = true;
#else
constexpr bool kPassThrough = false;
#endif

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLargestAsk = std::size_t{1} << 48;  // more is a miscalculated size
constexpr std::size_t kLargestInSpan = kHeader + 16 * KiB;
constexpr std::int64_t kFlushAt = 256 * KiB;

std::size_t round_up_to_alignment(std::size_t n) {
  return (n + kAlignment - 1) & ~(kAlignment - 1);
}

struct Bin {
  FreeBlock* first = nullptr;
  std::uint32_t count = 0;
  std::uint32_t limit = 0;  // beyond it, some go to the central store
};

struct ThreadCache {
  std::array<Bin, kClasses> bins;
  // Written by the owner, read by memory_stats().
  std::atomic<std::int64_t> unflushed{0}, top{0};
  std::uint32_t trims_seen = 0;
  ThreadCache *next = nullptr, *before = nullptr;  // all threads' caches, under the central lock

  ThreadCache() {
    for (int c = 0; c < kClasses; ++c)
      bins[static_cast<std::size_t>(c)].limit =
          static_cast<std::uint32_t>(std::clamp<std::size_t>(512 * KiB / class_size(c), 2, 4096));
  }
};

// Never destroyed: tensors may outlive everything.
struct Central {
  std::mutex mutex;
  std::array<SpanList, kClasses> spans;  // used up to kLargestInSpan
  PageHeap span_runs{kSpanBytes}, middle{128}, large{64 * KiB};
  ThreadCache* caches = nullptr;
  std::size_t free_cap;
  std::atomic<std::size_t> limit{std::numeric_limits<std::size_t>::max()};
  std::atomic<std::uint32_t> trims{0};
  std::atomic<std::int64_t> live{0}, peak{0};

  Central();
  std::size_t reserved() const {
    return span_runs.reserved_bytes() + middle.reserved_bytes() + large.reserved_bytes();
  }
  std::size_t allowance() const;
  void* take_run(PageHeap& heap, std::size_t bytes);
  void give_run(PageHeap& heap, void* p) noexcept;
  FreeBlock* take_block(int c);
  void give_block(int c, FreeBlock* block) noexcept;
  void give_chain(int c, FreeBlock* first) noexcept;
  void empty(ThreadCache& cache) noexcept;
  void trim(bool also_pages) noexcept;
};

Central& central() {
  static Central& instance = *new Central;
  return instance;
}

Central::Central() {
  const std::size_t memory = total_memory();
  free_cap = std::min(std::max(memory / 4, GiB), memory / 2);
  pthread_atfork([] { central().mutex.lock(); }, [] { central().mutex.unlock(); },
                 [] { central().mutex.unlock(); });
}

// Mapping memory nearly always succeeds, and whoever touches too much is killed later. So it is we
// who refuse: what is mapped already may all be touched, and the rest has to fit besides.
std::size_t Central::allowance() const {
  const auto minus = [](std::size_t a, std::size_t b) { return a > b ? a - b : 0; };
  const std::size_t have = reserved(), untouched = minus(have, resident_memory());
  return std::min(minus(limit.load(), have), minus(available_memory(), untouched));
}

// Null when neither the heap, nor what is kept, nor the system has it.
void* Central::take_run(PageHeap& heap, std::size_t bytes) {
  if (void* p = heap.take(bytes)) return p;
  for (const bool trimmed : {false, true}) {
    if (trimmed) {
      trim(false);
      if (void* p = heap.take(bytes)) return p;
    }
    if (heap.grow(bytes, allowance())) return heap.take(bytes);
  }
  return nullptr;
}

void Central::give_run(PageHeap& heap, void* p) noexcept {
  heap.give(p);
  const std::size_t kept_elsewhere =
      span_runs.free_bytes() + middle.free_bytes() + large.free_bytes() - heap.free_bytes();
  if (heap.free_bytes() + kept_elsewhere > free_cap)
    heap.release(free_cap > kept_elsewhere ? free_cap - kept_elsewhere : 0);
}

FreeBlock* Central::take_block(int c) {
  const std::size_t size = class_size(c);
  if (size > kLargestInSpan) return static_cast<FreeBlock*>(take_run(middle, size));
  SpanList& list = spans[static_cast<std::size_t>(c)];
  if (FreeBlock* block = list.take(size)) return block;
  void* run = take_run(span_runs, kSpanBytes);
  if (run == nullptr) return nullptr;
  list.add(run, size);
  return list.take(size);
}

void Central::give_block(int c, FreeBlock* block) noexcept {
  if (class_size(c) > kLargestInSpan) {
    give_run(middle, block);
  } else {
    spans[static_cast<std::size_t>(c)].give(block, span_runs);
  }
}

void Central::give_chain(int c, FreeBlock* first) noexcept {
  while (first != nullptr) {
    FreeBlock* next = first->next;
    give_block(c, first);
    first = next;
  }
}

void Central::empty(ThreadCache& cache) noexcept {
  cache.trims_seen = trims.load();
  for (int c = 0; c < kClasses; ++c) {
    Bin& bin = cache.bins[static_cast<std::size_t>(c)];
    give_chain(c, std::exchange(bin.first, nullptr));
    bin.count = 0;
  }
}

void flush_counters(ThreadCache& cache) {
  Central& shared = central();
  const std::int64_t delta = cache.unflushed.load(std::memory_order_relaxed);
  const std::int64_t reached =
      shared.live.fetch_add(delta) + cache.top.load(std::memory_order_relaxed);
  std::int64_t peak = shared.peak.load();
  while (reached > peak && !shared.peak.compare_exchange_weak(peak, reached)) {
  }
  cache.unflushed.store(0, std::memory_order_relaxed);
  cache.top.store(0, std::memory_order_relaxed);
}

// One pointer of thread-local storage on the fast path. It is null before the thread's first
// allocation and again once the thread's destructors have begun; then blocks come from and go to
// the central store one by one.
constinit thread_local ThreadCache* this_cache [[gnu::tls_model("initial-exec")]] = nullptr;
constinit thread_local bool thread_ends = false;

struct AtThreadExit {
  ~AtThreadExit() {
    thread_ends = true;
    ThreadCache* cache = std::exchange(this_cache, nullptr);
    if (cache == nullptr) return;
    flush_counters(*cache);
    Central& shared = central();
    const std::lock_guard lock(shared.mutex);
    shared.empty(*cache);
    (cache->before != nullptr ? cache->before->next : shared.caches) = cache->next;
    if (cache->next != nullptr) cache->next->before = cache->before;
    delete cache;
  }
};

void start_cache() {
  if (thread_ends) return;
  static thread_local AtThreadExit at_thread_exit;
  (void)at_thread_exit;
  auto* cache = new (std::nothrow) ThreadCache;
  if (cache == nullptr) return;
  Central& shared = central();
  const std::lock_guard lock(shared.mutex);
  cache->trims_seen = shared.trims.load();
  cache->next = shared.caches;
  if (shared.caches != nullptr) shared.caches->before = cache;
  shared.caches = cache;
  this_cache = cache;
}

void Central::trim(bool also_pages) noexcept {
  ++trims;
  if (this_cache != nullptr) empty(*this_cache);
  for (SpanList& list : spans) list.release_empty(span_runs);
  for (PageHeap* heap : {&span_runs, &middle, &large}) {
    heap->release(0);
    if (also_pages) heap->discard_free_pages();
  }
}

inline void count_taken(std::size_t bytes) {
  const auto size = static_cast<std::int64_t>(round_up_to_alignment(bytes));
  if (ThreadCache* cache = this_cache; cache != nullptr) [[likely]] {
    const std::int64_t now = cache->unflushed.load(std::memory_order_relaxed) + size;
    cache->unflushed.store(now, std::memory_order_relaxed);
    if (now > cache->top.load(std::memory_order_relaxed)) {
      cache->top.store(now, std::memory_order_relaxed);
      if (now > kFlushAt) [[unlikely]]
        flush_counters(*cache);
    }
  } else {
    Central& shared = central();
    const std::int64_t now = shared.live.fetch_add(size) + size;
    std::int64_t peak = shared.peak.load();
    while (now > peak && !shared.peak.compare_exchange_weak(peak, now)) {
    }
  }
}

inline void count_given(std::size_t bytes) {
  const auto size = static_cast<std::int64_t>(round_up_to_alignment(bytes));
  if (ThreadCache* cache = this_cache; cache != nullptr) [[likely]] {
    const std::int64_t now = cache->unflushed.load(std::memory_order_relaxed) - size;
    cache->unflushed.store(now, std::memory_order_relaxed);
    if (now < -kFlushAt) [[unlikely]]
      flush_counters(*cache);
  } else {
    central().live.fetch_sub(size);
  }
}

[[noreturn, gnu::cold, gnu::noinline]] void out_of_memory(std::size_t bytes) {
  if (bytes > kLargestAsk)
    fail<ResourceExhaustedError>("[allocate] got a request for ", bytes, " bytes, more than any ",
                                 "machine has; a dimension is negative or the shape too large");
  const MemoryStats now = memory_stats();
  fail<ResourceExhaustedError>("[allocate] out of memory: ", bytes, " bytes were asked for, ",
                               now.live, " are in use and ", now.reserved,
                               " are taken from the system; use smaller batches, free tensors, ",
                               "or raise the limit if set_memory_limit() was called");
}

void* pass_through(std::size_t bytes) {
  const std::size_t live = memory_stats().live, most = central().limit.load();
  if (bytes > most || live > most - bytes) return nullptr;
  if (bytes > 64 * MiB && bytes > available_memory()) return nullptr;
  return std::aligned_alloc(kAlignment, round_up_to_alignment(bytes));
}

// Nothing cached: takes a few blocks from the central store, or one if there is no cache.
[[gnu::noinline]] void* refill(int c) {
  if (this_cache == nullptr) start_cache();
  ThreadCache* cache = this_cache;
  Central& shared = central();
  const std::lock_guard lock(shared.mutex);
  if (cache != nullptr && cache->trims_seen != shared.trims.load()) shared.empty(*cache);
  FreeBlock* block = shared.take_block(c);
  if (block == nullptr || cache == nullptr || class_size(c) > kLargestInSpan) return block;
  Bin& bin = cache->bins[static_cast<std::size_t>(c)];
  const auto more = std::min<std::size_t>(bin.limit / 2, 16 * KiB / class_size(c));
  for (std::size_t i = 1; i < more; ++i) {
    FreeBlock* extra = shared.take_block(c);
    if (extra == nullptr) break;
    extra->next = bin.first;
    bin.first = extra;
    ++bin.count;
  }
  return block;
}

// Too much cached: some of it goes to the central store.
[[gnu::noinline]] void overflow(ThreadCache& cache, int c) noexcept {
  Bin& bin = cache.bins[static_cast<std::size_t>(c)];
  const std::uint32_t surplus = std::min(bin.limit / 2, 256u);
  FreeBlock *first = bin.first, *last = first;
  for (std::uint32_t i = 1; i < surplus; ++i) last = last->next;
  bin.first = std::exchange(last->next, nullptr);
  bin.count -= surplus;
  Central& shared = central();
  const std::lock_guard lock(shared.mutex);
  shared.give_chain(c, first);
  if (cache.trims_seen != shared.trims.load()) shared.empty(cache);
}

[[gnu::noinline]] void* allocate_large(std::size_t bytes) {
  if (this_cache == nullptr) start_cache();
  Central& shared = central();
  const std::lock_guard lock(shared.mutex);
  return shared.take_run(shared.large, bytes);
}

[[gnu::noinline]] void deallocate_slowly(void* p, std::size_t bytes) noexcept {
  Central& shared = central();
  const std::lock_guard lock(shared.mutex);
  if (bytes > kLargestCached) {
    shared.give_run(shared.large, p);
  } else {
    shared.give_block(class_of(bytes), static_cast<FreeBlock*>(p));
  }
}

void* allocate_uncounted(std::size_t bytes) {
  if (kPassThrough) return pass_through(bytes);
  try {
    return bytes <= kLargestCached ? refill(class_of(bytes)) : allocate_large(bytes);
  } catch (const std::bad_alloc&) {  // no memory for the book-keeping
    return nullptr;
  }
}

[[gnu::noinline]] void* allocate_slowly(std::size_t bytes) {
  if (bytes > kLargestAsk) out_of_memory(bytes);
  void* p = allocate_uncounted(bytes);
  if (p == nullptr) out_of_memory(bytes);
  count_taken(bytes);
  return p;
}

}  // namespace

void* allocate(std::size_t bytes) {
  bytes += bytes == 0;
  ThreadCache* cache = this_cache;
  if (kPassThrough || cache == nullptr || bytes > kLargestCached) [[unlikely]]
    return allocate_slowly(bytes);
  Bin& bin = cache->bins[static_cast<std::size_t>(class_of(bytes))];
  FreeBlock* block = bin.first;
  if (block == nullptr) [[unlikely]]
    return allocate_slowly(bytes);
  bin.first = block->next;
  --bin.count;
  count_taken(bytes);
  return block;
}

void deallocate(void* p, std::size_t bytes) noexcept {
  if (p == nullptr) return;
  bytes += bytes == 0;
  count_given(bytes);
  if (kPassThrough) return std::free(p);
  ThreadCache* cache = this_cache;
  if (cache == nullptr || bytes > kLargestCached) [[unlikely]]
    return deallocate_slowly(p, bytes);
  const int c = class_of(bytes);
  Bin& bin = cache->bins[static_cast<std::size_t>(c)];
  auto* block = static_cast<FreeBlock*>(p);
  block->next = bin.first;
  bin.first = block;
  if (++bin.count > bin.limit) [[unlikely]]
    overflow(*cache, c);
}

MemoryStats memory_stats() {
  Central& shared = central();
  const std::lock_guard lock(shared.mutex);
  std::int64_t live = shared.live.load(), top = live;
  for (const ThreadCache* cache = shared.caches; cache != nullptr; cache = cache->next) {
    live += cache->unflushed.load(std::memory_order_relaxed);
    top += cache->top.load(std::memory_order_relaxed);
  }
  const std::int64_t peak = std::max({shared.peak.load(), top, live});
  const auto bytes = [](std::int64_t n) {
    return static_cast<std::size_t>(std::max<std::int64_t>(n, 0));
  };
  return {.live = bytes(live),
          .peak = bytes(peak),
          .reserved = kPassThrough ? bytes(live) : shared.reserved()};
}

void reset_peak_memory() {
  Central& shared = central();
  const std::lock_guard lock(shared.mutex);
  std::int64_t live = shared.live.load();
  for (ThreadCache* cache = shared.caches; cache != nullptr; cache = cache->next) {
    const std::int64_t unflushed = cache->unflushed.load(std::memory_order_relaxed);
    cache->top.store(unflushed, std::memory_order_relaxed);
    live += unflushed;
  }
  shared.peak.store(live);
}

void set_memory_limit(std::size_t bytes) {
  central().limit.store(bytes == 0 ? std::numeric_limits<std::size_t>::max() : bytes);
}

void trim_memory() {
  Central& shared = central();
  const std::lock_guard lock(shared.mutex);
  shared.trim(true);
}

}  // namespace gradus
