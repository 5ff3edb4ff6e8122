// The reverse of a loop in bounded memory.
//
// Iterations are taken in parts. A part is run with stacks of what its reverse reads, and reversed;
// the parts themselves go from the last to the first, by binomial checkpoints of the carries. One
// half of the limit is for the stacks of a part, the other for checkpoints. Where the loop has kept
// states as it ran (kept_states.h), these are half of the checkpoints, and what lies between two of
// them, a stretch, is reversed by itself. Every iteration runs the programs that it runs where all
// stacks are kept, in the same order of sums: same bits.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/system_memory.h"
#include "control/checkpoint_schedule.h"
#include "control/kept_states.h"
#include "control/loop_pull.h"
#include "control/loop_run.h"
#include "control/region_text.h"
#include "gradus/loop_memory.h"
#include "graph/bind.h"
#include "graph/symbols.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

constinit thread_local std::int64_t limit_of_thread = 0;

constexpr std::int64_t kFewestCheckpoints = 8;  // fewer would cost too many runs

// The reverse of a loop, its operands and the cotangents in `given`.
struct CheckpointedReverse final : Held, TakesMemory, HasGraphs {
  std::shared_ptr<const CountedLoop> loop;
  std::shared_ptr<const CountedLoop::Pull> pull;
  std::vector<bool> wanted, given;  // what the pull was made for

  std::int64_t inner_bytes(const Call& call) const override;
  std::string describe() const override { return "[" + loop->describe() + "]" + flags(); }
  std::vector<Inner> inner_graphs() const override { return loop->inner_graphs(); }
  std::string besides() const override { return loop->besides() + flags(); }
  std::string flags() const {
    return " wanted " + in_brackets(wanted) + " given " + in_brackets(given);
  }
};

std::shared_ptr<Held> read_reverse(TextReader& reader, Graph& around) {
  const auto reverse = std::make_shared<CheckpointedReverse>();
  reader.expect("[");
  reverse->loop = std::static_pointer_cast<const CountedLoop>(read_counted(reader, around));
  reader.expect("] wanted");
  reverse->wanted = read_flags(reader, reverse->loop->body->input_count());
  reader.expect("given");
  reverse->given = read_flags(reader, reverse->loop->body->output_count());
  reverse->pull = find_pull(*reverse->loop, reverse->wanted, reverse->given);
  if (!reverse->pull->saving) reader.refuse("the reverse of this loop reads nothing of it");
  return reverse;
}

struct CheckpointAttrs {
  Held* held = nullptr;
  Size count = 0;
  static auto fields() {
    return attr_fields(attr("reverse", &CheckpointAttrs::held),
                       attr("count", &CheckpointAttrs::count));
  }
  const CheckpointedReverse& reverse() const {
    return *static_cast<const CheckpointedReverse*>(held);
  }
};

std::int64_t limit_of(const CountedLoop& loop) {
  return loop.memory_limit > 0 ? loop.memory_limit : static_cast<std::int64_t>(total_memory() / 4);
}

// What one iteration takes.
std::vector<Aval> body_inputs(const CountedLoop& loop, std::span<const View> operands) {
  std::vector<Aval> in;
  for (std::size_t i = 0; i < loop.carries + loop.xs; ++i) {
    in.push_back({operands[i].dtype, *operands[i].shape});
    if (i >= loop.carries) in.back().shape.erase(0);
  }
  for (const View& v : operands.subspan(loop.captures_at(), loop.captures()))
    in.push_back({v.dtype, *v.shape});
  return in;
}

// Results of one iteration of the loop that keeps what its reverse reads.
Avals saved_rows(const CountedLoop& loop, const CountedLoop& saving,
                 std::span<const View> operands) {
  const std::vector<Aval> inputs = body_inputs(loop, operands);
  SmallVector<View, 16> in;
  for (const Aval& a : inputs) in.push_back({nullptr, &a.shape, a.dtype});
  Avals results;
  saving.body->infer(in, results);
  Avals out;
  for (std::size_t i = loop.carries; i < results.size(); ++i) out.push_back(results[i]);
  return out;
}

std::size_t bytes_of(const Aval& a) {
  return static_cast<std::size_t>(a.shape.num_elements()) * size_of(a.dtype);
}

// The programs of the loop without and with its rows, and of its reverse; rows and states.
std::int64_t CheckpointedReverse::inner_bytes(const Call& call) const {
  const Sizes sizes = *bind_sizes(loop->body->graph(), body_inputs(*loop, call.in));
  double rows = 0;
  for (const Aval& row : saved_rows(*loop, *pull->saving, call.in))
    rows +=
        static_cast<double>(bytes_of(row)) * static_cast<double>(call.get<CheckpointAttrs>().count);
  const auto most = static_cast<double>(limit_of(*loop));
  return loop->body->memory_bytes(sizes) + pull->saving->body->memory_bytes(sizes) +
         pull->reverse->body->memory_bytes(sizes) + static_cast<std::int64_t>(std::min(rows, most));
}

// One run of the kernel.
class Reversal {
 public:
  Reversal(const KernelCall& c)
      : loop_(*c.get<CheckpointAttrs>().reverse().loop),
        pull_(*c.get<CheckpointAttrs>().reverse().pull),
        count_(c.get<CheckpointAttrs>().count),
        operands_(c.in.first(loop_.captures_at() + loop_.captures())),
        layout_(operands_.first(loop_.carries)),
        rows_(saved_rows(loop_, *pull_.saving, operands_)),
        forward_(loop_, operands_, LoopRun::Results::last_row),
        saving_(*pull_.saving, operands_),
        reverse_(*pull_.reverse, reverse_operands(c)) {
    std::int64_t row_bytes = 1;
    for (const Aval& row : rows_) row_bytes += static_cast<std::int64_t>(bytes_of(row));
    const std::int64_t half = limit_of(loop_) / 2;
    part_ = std::clamp<std::int64_t>(half / row_bytes, 1, count_);
    stretch_ = count_;
    find_kept(c);
    const std::int64_t fit = half / (layout_.bytes + 1);
    slots_ = kept_ ? std::max(kFewestCheckpoints / 2, fit / 2) : std::max(kFewestCheckpoints, fit);
    slots_ = std::min(slots_, (stretch_ + part_ - 1) / part_ - 1);
    states_ = make_tensor(uint8, {(slots_ + 2) * layout_.bytes});
    for (const Aval& row : rows_) {
      Shape shape = row.shape;
      shape.insert(0, part_);
      saved_.push_back(make_tensor(row.dtype, shape));
    }
    find_stacks(c);
  }

  void run(const KernelCall& c) {
    SmallVector<void*, 16> carries;
    for (std::size_t i = 0; i < pull_.reverse->carries; ++i) carries.push_back(c.out[i].data);
    reverse_.begin(carries);
    for (begin_ = (count_ - 1) / stretch_ * stretch_; begin_ >= 0; begin_ -= stretch_)
      reverse_stretch();
    reverse_.copy_carries(carries);
  }

 private:
  using Rows = LoopRun::Rows;

  // Operands of the reverse loop, for their dtypes and shapes and for the data of captures.
  std::span<const View> reverse_operands(const KernelCall& c) {
    using Stack = CountedLoop::Pull::Stack;
    for (std::size_t i = 0; i < pull_.reverse->carries; ++i) reverse_views_.push_back(c.out[i]);
    row_shapes_.reserve(pull_.stacks.size());
    const auto add_rows = [&](const Aval& row) {
      row_shapes_.push_back(row.shape);
      row_shapes_.back().insert(0, count_);
      reverse_views_.push_back({nullptr, &row_shapes_.back(), row.dtype});
    };
    for (const Stack& s : pull_.stacks) {
      if (s.kind == Stack::before) add_rows(rows_[s.after]);
      if (s.kind == Stack::made) add_rows(rows_[s.index]);
      if (s.kind == Stack::given) reverse_views_.push_back(operands_[loop_.carries + s.index]);
      if (s.kind == Stack::cotangent) reverse_views_.push_back(cotangent(c, s.index));
    }
    for (std::size_t i = 0; i < pull_.reverse->firsts(); ++i) reverse_views_.push_back({});
    for (const View& v : operands_.subspan(loop_.captures_at())) reverse_views_.push_back(v);
    for (std::size_t i : pull_.unchanged) reverse_views_.push_back(operands_[i]);
    return {reverse_views_.data(), reverse_views_.size()};
  }

  const View& cotangent(const KernelCall& c, std::size_t y) const {
    const std::vector<bool>& given = c.get<CheckpointAttrs>().reverse().given;
    const auto end = given.begin() + static_cast<std::ptrdiff_t>(loop_.carries + y);
    return c.in[operands_.size() + static_cast<std::size_t>(std::count(given.begin(), end, true))];
  }

  // The states that the loop has kept. Of those that are nearer than a part is long, some are used.
  void find_kept(const KernelCall& c) {
    const std::vector<bool>& given = c.get<CheckpointAttrs>().reverse().given;
    const std::size_t others =
        operands_.size() + static_cast<std::size_t>(std::count(given.begin(), given.end(), true));
    if (c.in.size() == others) return;
    kept_.emplace(layout_, c.in[others].data, c.in[others].count());
    stride_ = kept_->stride_after(count_);
    if (stride_ == 0) return kept_.reset();
    stretch_ = std::max(stride_, part_ / stride_ * stride_);
    part_ = std::min(part_, stretch_);
  }

  // Stacks that exist for all iterations.
  void find_stacks(const KernelCall& c) {
    const auto whole = [&](const View& v) {
      return Rows{v.as<char>(), gradus::bytes_of(v) / static_cast<std::size_t>(count_), 0, count_};
    };
    for (std::size_t i = 0; i < loop_.xs; ++i) {
      xs_.push_back(whole(operands_[loop_.carries + i]));
      if (loop_.shifts[i].first < 0) continue;
      xs_[i].shift = loop_.shifts[i].by;
      xs_[i].edge =
          operands_[loop_.carries + loop_.xs + static_cast<std::size_t>(loop_.shifts[i].first)]
              .data;
    }
    for (std::size_t k = 0; k < loop_.ys; ++k)  // nobody looks at them
      unused_.push_back({static_cast<char*>(saved_[k].impl()->data), 0, 0, count_});
    using Stack = CountedLoop::Pull::Stack;
    for (const Stack& s : pull_.stacks)
      cotangents_.push_back(s.kind == Stack::cotangent ? whole(cotangent(c, s.index)) : Rows());
    for (const View& v : c.out.subspan(pull_.reverse->carries)) gradients_.push_back(whole(v));
  }

  // 0 is the state before the stretch.
  StateLayout::Pointers state(std::int64_t number) {
    if (number > 0) return memory(number);
    if (begin_ > 0) return kept_->before_turn(begin_, stride_);
    StateLayout::Pointers before;
    for (const View& v : operands_.first(loop_.carries)) before.push_back(v.data);
    return before;
  }
  StateLayout::Pointers memory(std::int64_t number) {
    return layout_.at(static_cast<char*>(states_.impl()->data) + number * layout_.bytes);
  }

  void start_from(LoopRun& run, std::int64_t number) {
    const auto work = memory(0);
    layout_.copy(state(number), work);
    run.begin(work);
  }

  void reverse_stretch() {
    const std::int64_t turns = std::min(count_ - begin_, stretch_);
    reverse_steps((turns + part_ - 1) / part_, slots_,
                  [&](std::int64_t state, std::int64_t first, std::int64_t last, std::int64_t to) {
                    advance(state, first, last, to);
                  },
                  [&](std::int64_t state, std::int64_t first, std::int64_t part) {
                    if (first < part) {
                      advance(state, first, part, slots_ + 1);
                      state = slots_ + 1;
                    }
                    reverse_part(state, part);
                  });
  }

  // The rows of the iterations of some parts of the stretch.
  std::pair<std::int64_t, std::int64_t> rows_of(std::int64_t first, std::int64_t last) const {
    const std::int64_t end = std::min(count_, begin_ + stretch_);
    const std::int64_t lo = begin_ + first * part_, hi = std::min(end, begin_ + last * part_);
    return loop_.backwards ? std::pair(count_ - hi, count_ - lo) : std::pair(lo, hi);
  }

  void advance(std::int64_t from, std::int64_t first, std::int64_t last, std::int64_t to) {
    const auto [lo, hi] = rows_of(first, last);
    start_from(forward_, from);
    forward_.run(lo, hi, xs_, unused_);
    forward_.copy_carries(memory(to));
  }

  void reverse_part(std::int64_t number, std::int64_t part) {
    const auto [lo, hi] = rows_of(part, part + 1);
    SmallVector<Rows, 8> saved;
    for (std::size_t k = 0; k < rows_.size(); ++k)
      saved.push_back({static_cast<char*>(saved_[k].impl()->data), bytes_of(rows_[k]), lo, hi});
    const auto before = state(number);
    start_from(saving_, number);
    saving_.run(lo, hi, xs_, saved);

    using Stack = CountedLoop::Pull::Stack;
    SmallVector<Rows, 8> xs;
    for (std::size_t k = 0; k < pull_.stacks.size(); ++k) {
      const Stack& s = pull_.stacks[k];
      if (s.kind == Stack::made) xs.push_back(saved[s.index]);
      if (s.kind == Stack::given) xs.push_back(xs_[s.index]);
      if (s.kind == Stack::cotangent) xs.push_back(cotangents_[k]);
      if (s.kind != Stack::before) continue;
      xs.push_back(saved[s.after]);
      xs.back().shift = loop_.backwards ? 1 : -1;
      xs.back().edge = before[s.index];
    }
    reverse_.run(lo, hi, xs, gradients_);
  }

  const CountedLoop& loop_;
  const CountedLoop::Pull& pull_;
  std::int64_t count_;
  std::span<const View> operands_;
  StateLayout layout_;
  Avals rows_;  // by stack of the saving loop
  SmallVector<Shape, 8> row_shapes_;
  SmallVector<View, 16> reverse_views_;
  LoopRun forward_, saving_, reverse_;
  std::optional<KeptStates> kept_;
  std::int64_t stride_ = 0;                  // of kept states
  std::int64_t part_, stretch_, begin_ = 0;  // iterations of a part, of a stretch, before this one
  std::int64_t slots_;                       // checkpoints in a stretch
  Tensor states_;  // the one that is worked on, the checkpoints, one that is in between
  SmallVector<Tensor, 8> saved_;  // stacks of one part
  SmallVector<Rows, 8> xs_, unused_, cotangents_, gradients_;
};

// What the sums of gradients and the cotangents of the last carries are before any iteration.
void begin_results(const KernelCall& c, const CheckpointedReverse& r) {
  const auto operands = r.loop->captures_at() + r.loop->captures();
  for (std::size_t k = 0; k < r.pull->reverse->carries; ++k) {
    const View& out = c.out[k];
    const std::size_t bytes = gradus::bytes_of(out);
    if (bytes == 0) continue;
    const bool is_carry = k < r.pull->carries.size();
    if (is_carry && r.given[r.pull->carries[k]]) {
      const auto end = r.given.begin() + static_cast<std::ptrdiff_t>(r.pull->carries[k]);
      const auto before = static_cast<std::size_t>(std::count(r.given.begin(), end, true));
      std::memcpy(out.data, c.in[operands + before].data, bytes);
    } else {
      std::memset(out.data, 0, bytes);
    }
  }
}

const Op checkpointed_reverse_op = composite(
    {.name = "checkpointed_reverse",
     .doc =
         "The reverse of a loop in bounded memory: from some states, it computes the rest again.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<CheckpointAttrs>(),
     .inputs = -1,
     .outputs = -1,
     .infer =
         [](const Call& c, Avals& out) {
           const CheckpointedReverse& r = c.get<CheckpointAttrs>().reverse();
           const auto like = [&](std::size_t operand) {
             out.push_back({c.in[operand].dtype, *c.in[operand].shape});
           };
           for (std::size_t i : r.pull->carries) like(i);
           for (std::size_t i : r.pull->captures) like(r.loop->captures_at() + i);
           for (std::size_t i : r.pull->xs) like(r.loop->carries + i);
         },
     .kernel =
         [](const KernelCall& c) {
           const CheckpointAttrs& attrs = c.get<CheckpointAttrs>();
           begin_results(c, attrs.reverse());
           if (attrs.count > 0) Reversal(c).run(c);
         },
     .read_held = read_reverse},
    [](const void* attrs, std::span<const Tensor> in) {
      const auto& a = *static_cast<const CheckpointAttrs*>(attrs);
      return reverse_with_stacks(*a.reverse().loop, *a.reverse().pull, a.reverse().given, a.count,
                                 in);
    });

}  // namespace

LoopMemoryLimit::LoopMemoryLimit(std::int64_t bytes) {
  if (bytes <= 0) {
    fail<InvalidArgumentError>("[LoopMemoryLimit] got ", bytes,
                               " bytes; expected how many the gradient of a loop may keep");
  }
  before_ = exchange(bytes);
}
std::int64_t LoopMemoryLimit::of_thread() { return limit_of_thread; }
std::int64_t LoopMemoryLimit::exchange(std::int64_t bytes) {
  return std::exchange(limit_of_thread, bytes);
}

bool needs_checkpoints(const CountedLoop& loop, const CountedLoop::Pull& pull, Size count,
                       std::span<const Tensor> operands) {
  if (!pull.saving) return false;
  SmallVector<View, 16> views;
  for (const Tensor& t : operands) views.push_back({nullptr, &t.shape(), t.dtype()});
  const Avals rows = saved_rows(loop, *pull.saving, views);
  double bytes = 0;
  for (std::size_t i = loop.ys; i < rows.size(); ++i) {
    if (!rows[i].shape.is_known() || !count.is_known()) return loop.memory_limit > 0;
    bytes += static_cast<double>(bytes_of(rows[i])) * static_cast<double>(std::int64_t{count});
  }
  return bytes > static_cast<double>(limit_of(loop));
}

Tensors reverse_with_checkpoints(const std::shared_ptr<const CountedLoop>& loop,
                                 const std::shared_ptr<const CountedLoop::Pull>& pull,
                                 const std::vector<bool>& wanted, const std::vector<bool>& given,
                                 Size count, std::span<const Tensor> in) {
  const auto reverse = std::make_shared<CheckpointedReverse>();
  reverse->loop = loop;
  reverse->pull = pull;
  reverse->wanted = wanted;
  reverse->given = given;
  const CheckpointAttrs attrs{reverse.get(), count};
  return checkpointed_reverse_op.run(in, &attrs);
}

}  // namespace gradus
