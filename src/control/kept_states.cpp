#include "control/kept_states.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "control/loop_run.h"
#include "gradus/ops.h"
#include "graph/context.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

constexpr std::int64_t kFewest = 4;             // fewer would cost too many runs
constexpr std::int64_t kMost = 1024;            // of rows as large, half the limit fits between two
constexpr std::int64_t kMostBytes = 256 << 20;  // where it is not known how many states these are
constexpr std::int64_t kDensest =
    16;  // the first stride: so often in as many turns as there are slots

std::int64_t aligned(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + 63) / 64 * 64);
}

struct KeepAttrs {
  Held* held = nullptr;
  std::int64_t bytes = 0;
  static auto fields() {
    return attr_fields(attr("loop", &KeepAttrs::held), attr("bytes", &KeepAttrs::bytes));
  }
  const WhileLoop& loop() const { return *static_cast<const WhileLoop*>(held); }
};

void keeping_kernel(const KernelCall& c) {
  const KeepAttrs& attrs = c.get<KeepAttrs>();
  const std::size_t carries = attrs.loop().carries();
  const StateLayout layout(c.in.first(carries));
  KeptStates kept(layout, c.out[carries].data, attrs.bytes);
  run_while(attrs.loop(), c, &kept);
}

Op make_keeping(const char* name, bool stateful) {
  return internal({.name = name,
                   .doc = "A while whose states are kept for its derivative.",
                   .dtypes = kAnyDType,
                   .attrs = &attr_type<KeepAttrs>(),
                   .inputs = -1,
                   .outputs = -1,
                   .infer =
                       [](const Call& c, Avals& out) {
                         c.get<KeepAttrs>().loop().infer(c.in, out);
                         out.push_back({uint8, {c.get<KeepAttrs>().bytes}});
                       },
                   .kernel = keeping_kernel,
                   .stateful = stateful},
                  "it is made after differentiation");
}

const Op keeping_while_op = make_keeping("keeping_while", false);
const Op stateful_keeping_while_op = make_keeping("stateful_keeping_while", true);

const Op kept_states_op =
    internal({.name = "kept_states",
              .doc = "The states that a while keeps; none where the loop is in another program.",
              .dtypes = kAnyDType,
              .attrs = &attr_type<KeepAttrs>(),
              .inputs = -1,
              .infer =
                  [](const Call&, Avals& out) {
                    out.push_back({uint8, {0}});
                  },
              .kernel = [](const KernelCall&) {},
              .batch =
                  [](const BatchCall& c) {
                    return Tensors{zeros({c.size, 0}, uint8)};
                  },
              .read_held = read_while},
             "its result says only where to compute again", Where::traced);

}  // namespace

StateLayout::StateLayout(std::span<const View> carries) {
  for (const View& v : carries) {
    sizes.push_back(bytes_of(v));
    offsets.push_back(static_cast<std::size_t>(bytes));
    bytes += aligned(sizes.back());
  }
}

StateLayout::Pointers StateLayout::at(void* state) const {
  Pointers pointers;
  for (std::size_t offset : offsets) pointers.push_back(static_cast<char*>(state) + offset);
  return pointers;
}

void StateLayout::copy(std::span<void* const> from, std::span<void* const> to) const {
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (from[i] != to[i] && sizes[i] > 0) std::memcpy(to[i], from[i], sizes[i]);
}

KeptStates::KeptStates(const StateLayout& layout, void* memory, std::int64_t bytes)
    : layout_(layout),
      memory_(static_cast<char*>(memory)),
      slots_(std::min(bytes / std::max<std::int64_t>(1, layout.bytes), kMost)),
      stride_(std::max<std::int64_t>(1, slots_ / kDensest)) {}

std::int64_t KeptStates::turns_to_next(std::int64_t done) const {
  return slots_ == 0 ? std::numeric_limits<std::int64_t>::max() : stride_ - done % stride_;
}

void KeptStates::offer(std::int64_t done, std::span<void* const> carries) {
  if (slots_ == 0 || done % stride_ != 0) return;
  if (done / stride_ > slots_) {
    for (std::int64_t i = 0; i < slots_ / 2; ++i)
      std::memcpy(slot(i), slot(2 * i + 1), static_cast<std::size_t>(layout_.bytes));
    stride_ *= 2;
    if (done % stride_ != 0) return;
  }
  layout_.copy(carries, layout_.at(slot(done / stride_ - 1)));
}

std::int64_t KeptStates::stride_after(std::int64_t count) const {
  if (slots_ == 0) return 0;
  std::int64_t stride = stride_;
  while ((count - 1) / stride > slots_) stride *= 2;
  return stride;
}

StateLayout::Pointers KeptStates::before_turn(std::int64_t turn, std::int64_t stride) const {
  return layout_.at(slot(turn / stride - 1));
}

std::int64_t bytes_for_states(std::int64_t memory_limit, std::span<const Aval> carries) {
  const std::int64_t quarter = memory_limit / 4;
  SmallVector<View, 16> views;
  for (const Aval& a : carries) {
    if (!a.shape.is_known()) return std::min(quarter, kMostBytes);
    views.push_back({nullptr, &a.shape, a.dtype});
  }
  const std::int64_t state = StateLayout(views).bytes;
  return std::clamp(quarter / state, kFewest, kMost) * state;
}

Tensor kept_states(const WhileLoop& loop, std::span<const Tensor> operands) {
  if (loop.counted->memory_limit <= 0) return {};
  std::vector<Aval> carries;
  for (const Tensor& t : operands.first(loop.carries())) carries.push_back({t.dtype(), t.shape()});
  const KeepAttrs attrs{const_cast<WhileLoop*>(&loop),
                        bytes_for_states(loop.counted->memory_limit, carries)};
  const Mute nobody_is_told(0);
  return kept_states_op.run_one(operands, &attrs);
}

bool WhileLoop::is_asked_by(const Op& op) const { return &op == &kept_states_op; }

const Op* WhileLoop::keeping(const Op& op) const {
  if (!is_while(op)) return nullptr;
  return op.info.stateful ? &stateful_keeping_while_op : &keeping_while_op;
}

}  // namespace gradus
