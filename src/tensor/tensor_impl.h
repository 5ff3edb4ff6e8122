// The header behind a Tensor, and how headers are made.
//
// One block of memory holds the 128-byte header and, right behind it, the elements: making a small
// tensor is one trip to the allocator. A view (reshape, leading slice) is a header without elements
// that keeps its base alive. Everything that is rare hangs off extra().
#pragma once
#include <atomic>
#include <memory>

#include "gradus/tensor.h"

namespace gradus {

enum class ValueKind : std::uint8_t {
  concrete,  // has data
  traced,    // a value of a graph that is being built: no data, sizes may be symbols
  batched,   // one example of a batch: the data is extra()->inner, which has one more leading axis
};

// Why a tensor needs more than its kernel run; the union over the inputs decides an op's path.
enum TensorFlags : std::uint16_t {
  kTracked = 1,     // some tape may follow this value: look at `track` and the tape's watch list
  kHasTangent = 2,  // forward mode: extra()->tangents is or the level's own list may be not empty
  kNotConcrete = 4,
  kWeak = 8,  // a host number: takes the dtype of what it is combined with
};

class Graph;

// One entry per forward-mode level that follows this value.
struct TangentEntry {
  std::uint64_t level;  // id of the ForwardLevel
  Tensor tangent;
  TangentEntry* next;
};

struct TensorExtra {
  std::shared_ptr<Graph> graph;      // traced: the graph
  std::uint32_t value = 0;           // traced: which value of it
  Tensor inner;                      // batched: the whole batch
  std::uint64_t level = 0;           // traced, batched: whose (graph/level.h)
  TangentEntry* tangents = nullptr;  // only on results of ops, set by the thread that made them
  std::shared_ptr<void> foreign;     // memory that came from outside
  ~TensorExtra();
};

struct alignas(64) TensorImpl {
  std::atomic<std::uint32_t> refs{1};
  DType dtype;
  ValueKind kind = ValueKind::concrete;
  std::atomic<std::uint16_t> flags{0};
  std::int64_t count;  // number of elements; -1 while symbolic
  void* data;          // null unless concrete
  TensorImpl* base;    // views: whose elements these are
  Shape shape;
  std::atomic<std::uint64_t> track{0};      // which recording knows this value, and as what
  std::atomic<TensorExtra*> rare{nullptr};  // see extra()

  bool has(TensorFlags f) const { return flags.load(std::memory_order_relaxed) & f; }
  void set(TensorFlags f) { flags.fetch_or(f, std::memory_order_relaxed); }
  TensorExtra* extra() const { return rare.load(std::memory_order_acquire); }
  TensorExtra& ensure_extra();
};
static_assert(sizeof(TensorImpl) == 128);

// A concrete tensor with room for its elements, which are not initialised. Throws
// ResourceExhaustedError, or InvalidArgumentError for a size that no machine has.
Tensor make_tensor(DType dtype, const Shape& shape);

// The same elements under another shape (same number) or a part of them that is contiguous.
Tensor make_view(const Tensor& base, const Shape& shape, std::int64_t first_element = 0);

// A second header for the same value, with its own tracking.
inline Tensor make_alias(const Tensor& t) { return make_view(t, t.shape()); }

// A header without data, for traced and batched values; the caller fills in `extra`.
Tensor make_placeholder(ValueKind kind, DType dtype, const Shape& shape);

// Elements that live elsewhere, kept alive by `owner`.
Tensor make_foreign(DType dtype, const Shape& shape, void* data, std::shared_ptr<void> owner);

// A host number: float64/int64/bool elements that adopt the dtype of what they meet.
Tensor make_weak(double x);
Tensor make_weak(std::int64_t x);

inline bool is_concrete(const Tensor& t) { return t.impl()->kind == ValueKind::concrete; }

// True if nobody else can see this tensor's elements, so that they may be overwritten.
inline bool is_unique(const Tensor& t) {
  const TensorImpl* i = t.impl();
  return i->refs.load(std::memory_order_acquire) == 1 && !i->base &&
         !(i->extra() && i->extra()->foreign);
}

template <class T = void>
T* mutable_data(const Tensor& t) {
  return static_cast<T*>(t.impl()->data);
}

}  // namespace gradus
