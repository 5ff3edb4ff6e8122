#include "compile/executable.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "compile/bound_step.h"
#include "compile/memory_plan.h"
#include "compile/roles.h"
#include "compile/stretches.h"
#include "gradus/interrupt.h"
#include "graph/bind.h"
#include "graph/elementwise.h"
#include "graph/profiling.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using Value = Graph::Value;
// Sizes that are kept ready: the last two whatever they take, more of them if they are small.
constexpr std::size_t kMaxLayouts = 16, kMinLayouts = 2;
constexpr std::int64_t kMaxIdleBytes = 64 << 20;

}  // namespace

// One step with everything but the data.
struct Prepared {
  const Op* op;
  const void* attrs;
  std::uint32_t first_view, in_count, out_count;
  const BoundStep* bound;  // if the compiler made it of several: how to run it
  const char* label;       // of the same: its members
  std::source_location where;

  void run(std::span<const View> in, std::span<const View> out) const {
    if (bound) {
      bound->run(in, out);
    } else if (op->kind == Kind::elementwise) {
      op->elementwise->run(in, out[0]);
    } else {
      op->info.kernel({{*op, attrs, in}, out});
    }
  }
};

struct Executable::Frame {
  std::vector<View> views;
  Tensor arena;

  // For sessions: the steps as calls of kernels with arguments.
  struct Call {
    const Prepared* step;
    const expr::Kernel* kernel;  // null: a step as in any program
    expr::LoopArgs args;
  };
  struct Patch {  // a pointer that each run brings, and where it is needed
    void** where;
    std::uint32_t index;
  };
  std::vector<Call> calls;
  std::vector<Patch> inputs, outputs;
  std::vector<Tensor> scratch;
};

struct Executable::Layout {
  Sizes sizes;
  std::size_t guards = 0;     // that are known to hold
  std::vector<Shape> shapes;  // by value
  std::vector<std::byte> attrs;
  std::vector<std::unique_ptr<BoundStep>> bound;
  std::vector<Prepared> steps;
  struct Patch {  // views that look at what each call brings
    std::uint32_t view, index;
  };
  std::vector<Patch> inputs, outputs;
  std::vector<View> views;  // a frame's, before it is given memory
  struct Hole {
    std::uint32_t view;
    std::int64_t offset;
  };
  std::vector<Hole> arena_views;
  std::int64_t arena_bytes = 0;

  std::mutex mutex;
  std::vector<std::unique_ptr<Frame>> idle;

  std::unique_ptr<Frame> take_frame() {
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        auto frame = std::move(idle.back());
        idle.pop_back();
        return frame;
      }
    }
    auto frame = std::make_unique<Frame>();
    frame->views = views;
    frame->arena = make_tensor(uint8, {arena_bytes});
    auto* base = mutable_data<char>(frame->arena);
    for (const Hole& h : arena_views) frame->views[h.view].data = base + h.offset;
    return frame;
  }
  void give_back(std::unique_ptr<Frame> frame) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(frame));
  }
};

Executable::Executable(std::shared_ptr<Graph> graph, std::span<const Donation> donations)
    : graph_(std::move(graph)) {
  const OutsideTraces finished;
  plan_ = plan_buffers(*graph_, donations);
}
Executable::Executable(std::unique_ptr<Stretches> stretches)
    : graph_(stretches->graph().shared_from_this()), stretches_(std::move(stretches)) {}
Executable::~Executable() = default;

std::size_t Executable::step_count() const {
  return stretches_ ? stretches_->step_count() : plan_.steps.size();
}

std::shared_ptr<Executable::Layout> Executable::make_layout(Sizes sizes) const {
  const Graph& g = *graph_;
  auto layout = std::make_shared<Layout>();
  Layout& l = *layout;
  l.sizes = std::move(sizes);
  l.shapes.reserve(g.value_count());
  for (Value v = 0; v < g.value_count(); ++v)
    l.shapes.push_back(bind_shape(g.symbols(), l.sizes, g.info(v).aval.shape));

  const MemoryPlan plan = plan_memory(lifetimes(g, plan_, l.sizes));
  l.arena_bytes = plan.bytes;

  std::size_t attr_bytes = 0;
  for (const BufferPlan::Step& s : plan_.steps)
    attr_bytes += (g.nodes()[s.node].op->attrs().bytes + 15) / 16 * 16;
  l.attrs.resize(attr_bytes);
  l.views.resize(plan_.view_count);
  std::size_t attrs_at = 0;
  for (const BufferPlan::Step& s : plan_.steps) {
    const Graph::Node& n = g.nodes()[s.node];
    std::uint32_t at = s.first_view;
    const auto look = [&](Value v) {
      const BufferPlan::Place& p = plan_.places[v];
      l.views[at] = {nullptr, &l.shapes[v], g.info(v).aval.dtype};
      if (p.home == Home::input) l.inputs.push_back({at, p.index});
      if (p.home == Home::output) l.outputs.push_back({at, p.index});
      if (p.home == Home::arena) l.arena_views.push_back({at, plan.offsets[p.index]});
      if (p.home == Home::constant) l.views[at].data = g.info(p.root).constant.impl()->data;
      ++at;
    };
    for (Value v : g.operands(n)) look(v);
    const OpInfo& info = n.op->info;
    bool empty = !info.stateful && !info.checks_values && n.out_count > 0;
    for (std::uint32_t i = 0; i < n.out_count; ++i) {
      look(n.first_out + i);
      empty &= l.shapes[n.first_out + i].num_elements() == 0;
    }
    if (empty) continue;  // kernels may loop over huge axes around an empty one
    std::byte* attrs = l.attrs.data() + attrs_at;
    attrs_at += (n.op->attrs().bytes + 15) / 16 * 16;
    std::copy_n(static_cast<const std::byte*>(g.attrs(n)), n.op->attrs().bytes, attrs);
    bind_attrs(g.symbols(), l.sizes, n.op->attrs(), attrs);
    const auto* bindable = held_as<Bindable>(g, n);
    if (bindable) {
      const std::span<const View> views(l.views.data() + s.first_view, n.in_count + n.out_count);
      l.bound.push_back(
          bindable->bind(g.symbols(), l.sizes, views.first(n.in_count), views.subspan(n.in_count)));
    }
    l.steps.push_back({n.op, attrs, s.first_view, n.in_count, n.out_count,
                       bindable ? l.bound.back().get() : nullptr,
                       bindable ? bindable->label().c_str() : nullptr, n.where});
  }
  return layout;
}

std::shared_ptr<Executable::Layout> Executable::layout_for(std::span<const Tensor> in) {
  Sizes sizes;
  if (graph_->symbols().input_count() > 0) {
    auto bound = bind_sizes(*graph_, in);
    GRADUS_ASSERT(bound.has_value());
    sizes = std::move(*bound);
  }
  return layout_for(std::move(sizes));
}

std::shared_ptr<Executable::Layout> Executable::layout_for(Sizes sizes) {
  {
    const std::lock_guard lock(mutex_);
    for (auto it = layouts_.begin(); it != layouts_.end(); ++it) {
      if ((*it)->sizes != sizes) continue;
      if ((*it)->guards != graph_->symbols().guard_count()) {
        layouts_.erase(it);
        break;
      }
      if (it != layouts_.begin()) layouts_.splice(layouts_.begin(), layouts_, it);
      return layouts_.front();
    }
  }
  const std::size_t guards = graph_->symbols().guard_count();
  if (const auto broken = graph_->symbols().broken_guard(sizes))
    fail<BrokenGuard>("the program serves sizes with ", graph_->symbols().print(*broken));
  auto made = make_layout(std::move(sizes));
  made->guards = guards;
  const std::lock_guard lock(mutex_);
  layouts_.push_front(made);
  std::int64_t bytes = 0;
  for (const std::shared_ptr<Layout>& layout : layouts_) bytes += layout->arena_bytes;
  while (layouts_.size() > kMaxLayouts ||
         (layouts_.size() > kMinLayouts && bytes > kMaxIdleBytes)) {
    bytes -= layouts_.back()->arena_bytes;
    layouts_.pop_back();
  }
  return made;
}

constinit thread_local std::optional<std::source_location> failed_line;

void name_failed_step(std::source_location where) {
  if (!failed_line) failed_line = where;
  try {
    throw;
  } catch (Error& e) {
    e.name_line(where);
  } catch (...) {  // it has no place for a line
  }
}

std::int64_t Executable::arena_bytes(Sizes sizes) {
  if (stretches_) return stretches_->arena_bytes(sizes);
  return layout_for(std::move(sizes))->arena_bytes;
}

void Executable::execute(const Layout& layout, Frame& frame) {
  std::uint32_t count = 0;
  const Prepared* now = nullptr;
  try {
    for (const Prepared& s : layout.steps) {
      now = &s;
      const std::span<const View> in(frame.views.data() + s.first_view, s.in_count);
      const std::span<const View> out(frame.views.data() + s.first_view + s.in_count, s.out_count);
      std::optional<ProfiledKernel> profiled;
      if (is_profiling.load(std::memory_order_relaxed)) [[unlikely]]
        profiled.emplace(*s.op, s.attrs, s.label, s.where, in, out);
      s.run(in, out);
      if ((++count & 63) == 0) check_interrupt();
    }
  } catch (...) {
    name_failed_step(now->where);
    throw;
  }
}

void Executable::run(std::span<Tensor> in, std::span<Tensor> out) {
  if (stretches_) return stretches_->run(in, out);
  const std::shared_ptr<Layout> layout = layout_for(in);
  const Graph& g = *graph_;
  std::unique_ptr<Frame> frame = layout->take_frame();
  for (const auto& p : layout->inputs) frame->views[p.view].data = in[p.index].impl()->data;
  SmallVector<Tensor, 8> made(out.size());  // by output: the tensor that its root is
  try {
    for (std::size_t k = 0; k < out.size(); ++k) {
      const Value root = plan_.places[g.outputs()[k]].root;
      if (plan_.places[root].home != Home::output || plan_.places[root].index != k) continue;
      if (plan_.donor[k] >= 0 && is_unique(in[static_cast<std::size_t>(plan_.donor[k])])) {
        made[k] = std::move(in[static_cast<std::size_t>(plan_.donor[k])]);
      } else {
        made[k] = make_tensor(g.info(root).aval.dtype, layout->shapes[root]);
      }
    }
    for (const auto& p : layout->outputs) frame->views[p.view].data = made[p.index].impl()->data;
    execute(*layout, *frame);
  } catch (...) {
    for (std::size_t k = 0; k < out.size(); ++k) {  // what was given away goes back
      if (plan_.donor[k] >= 0 && made[k].defined() &&
          !in[static_cast<std::size_t>(plan_.donor[k])].defined())
        in[static_cast<std::size_t>(plan_.donor[k])] = made[k];
    }
    layout->give_back(std::move(frame));
    throw;
  }
  layout->give_back(std::move(frame));

  for (std::size_t k = 0; k < out.size(); ++k) {
    const Value v = g.outputs()[k];
    const BufferPlan::Place& p = plan_.places[v];
    const Tensor* whole = nullptr;
    if (p.home == Home::output) whole = &made[p.index];
    if (p.home == Home::input) whole = &in[p.index];
    if (p.home == Home::constant) whole = &g.info(p.root).constant;
    GRADUS_ASSERT(whole && whole->defined());
    const bool shared = p.home != Home::output || p.root != v || plan_.made_out[k] != k;
    out[k] = shared ? make_view(*whole, layout->shapes[v]) : *whole;
  }
}

Executable::Runner::Runner(Executable& program, std::span<const View> in) : program_(program) {
  const Graph& g = *program.graph_;
  for (const View& v : in) avals_.push_back({v.dtype, *v.shape});
  if (program.stretches_) return;
  auto sizes = bind_sizes(g, avals_);
  GRADUS_ASSERT(sizes.has_value());
  layout_ = program.layout_for(std::move(*sizes));
  frame_ = layout_->take_frame();
  for (std::size_t k = 0; k < g.outputs().size(); ++k) {
    const BufferPlan::Place& p = program.plan_.places[g.outputs()[k]];
    if (p.home == Home::output && p.index == k) continue;
    const Value v = g.outputs()[k];
    const auto bytes =
        static_cast<std::size_t>(layout_->shapes[v].num_elements()) * size_of(g.info(v).aval.dtype);
    const auto index = static_cast<std::int32_t>(p.index);
    copies_.push_back({p.home == Home::constant ? g.info(p.root).constant.impl()->data : nullptr,
                       p.home == Home::input ? index : -1, p.home == Home::output ? index : -1,
                       static_cast<std::uint32_t>(k), bytes});
  }
  prepare_calls();
}
Executable::Runner::~Runner() {
  if (layout_) layout_->give_back(std::move(frame_));
}

void Executable::Runner::run_stretches(std::span<void* const> in, std::span<void* const> out) {
  std::vector<Tensor> given, made(out.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    given.push_back(make_tensor(avals_[i].dtype, avals_[i].shape));
    const TensorImpl& t = *given.back().impl();
    if (t.count > 0)
      std::memcpy(t.data, in[i], static_cast<std::size_t>(t.count) * size_of(t.dtype));
  }
  program_.run(given, made);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const TensorImpl& t = *made[i].impl();
    if (t.count > 0)
      std::memcpy(out[i], t.data, static_cast<std::size_t>(t.count) * size_of(t.dtype));
  }
}

// Most steps of a short program are one call of one kernel, whose arguments but for a few pointers
// are always the same.
void Executable::Runner::prepare_calls() {
  Frame& f = *frame_;
  if (!f.calls.empty()) return;  // a frame that was used before
  std::vector<std::int32_t> call_of(f.views.size(), -1);
  std::vector<std::uint32_t> slot_of(f.views.size(), 0);
  f.calls.reserve(layout_->steps.size());
  for (const Prepared& s : layout_->steps) {
    const std::span<const View> views(f.views.data() + s.first_view, s.in_count + s.out_count);
    Frame::Call& call = f.calls.emplace_back(Frame::Call{&s, nullptr, {}});
    if (s.bound)
      call.kernel =
          s.bound->one_call(views.first(s.in_count), views.subspan(s.in_count), call.args);
    if (!call.kernel) continue;
    if (const std::size_t bytes = s.bound->scratch_bytes(); bytes > 0) {
      f.scratch.push_back(make_tensor(uint8, {static_cast<std::int64_t>(bytes)}));
      call.args.scratch = f.scratch.back().impl()->data;
    }
    for (std::uint32_t i = 0; i < s.in_count + s.out_count; ++i) {
      call_of[s.first_view + i] = static_cast<std::int32_t>(f.calls.size() - 1);
      slot_of[s.first_view + i] = i;
    }
  }
  const auto place = [&](std::uint32_t view) -> void** {
    if (call_of[view] < 0) return &f.views[view].data;
    Frame::Call& call = f.calls[static_cast<std::size_t>(call_of[view])];
    const std::uint32_t slot = slot_of[view], ins = call.step->in_count;
    return slot < ins ? const_cast<void**>(&call.args.in[slot]) : &call.args.out[slot - ins];
  };
  for (const auto& p : layout_->inputs) f.inputs.push_back({place(p.view), p.index});
  for (const auto& p : layout_->outputs) f.outputs.push_back({place(p.view), p.index});
}

void Executable::Runner::run_calls() {
  const Prepared* now = nullptr;
  try {
    for (const Frame::Call& call : frame_->calls) {
      now = call.step;
      if (call.kernel) {
        (*call.kernel)(call.args);
        continue;
      }
      const View* views = frame_->views.data() + now->first_view;
      const std::span<const View> in(views, now->in_count);
      now->run(in, {views + now->in_count, now->out_count});
    }
  } catch (...) {
    name_failed_step(now->where);
    throw;
  }
}

void Executable::Runner::run(std::span<void* const> in, std::span<void* const> out) {
  if (program_.stretches_) return run_stretches(in, out);
  if (is_profiling.load(std::memory_order_relaxed)) [[unlikely]] {
    for (const auto& p : layout_->inputs) frame_->views[p.view].data = in[p.index];
    for (const auto& p : layout_->outputs) frame_->views[p.view].data = out[p.index];
    execute(*layout_, *frame_);
  } else {
    for (const Frame::Patch& p : frame_->inputs) *p.where = in[p.index];
    for (const Frame::Patch& p : frame_->outputs) *p.where = out[p.index];
    run_calls();
  }
  for (const Copy& c : copies_) {
    const void* from = c.input >= 0    ? in[static_cast<std::size_t>(c.input)]
                       : c.output >= 0 ? out[static_cast<std::size_t>(c.output)]
                                       : c.constant;
    if (from != out[c.to] && c.bytes > 0) std::memcpy(out[c.to], from, c.bytes);
  }
}

std::int64_t Executable::Runner::repeat(std::int64_t count, std::span<const Track> in,
                                        std::span<const Track> out, const bool* go_on) {
  if (count <= 0) return 0;
  if (program_.stretches_) {
    const auto at = [](const Track& track, std::int64_t turn) -> void* {
      return static_cast<char*>(track.at) + (track.by_turns ? turn % 2 : turn) * track.step;
    };
    for (std::int64_t done = 0;;) {
      check_interrupt();
      SmallVector<void*, 16> from, to;
      for (const Track& track : in) from.push_back(at(track, done));
      for (const Track& track : out) to.push_back(at(track, done));
      run_stretches(from, to);
      if (++done == count || (go_on && !*go_on)) return done;
    }
  }
  struct Move {  // a pointer that is not the same in the next run
    char** where;
    std::ptrdiff_t step, following;
  };
  SmallVector<Move, 16> moves;
  const auto follow = [&](auto** where, const Track& track) {
    auto** const at = reinterpret_cast<char**>(const_cast<void**>(where));
    *at = static_cast<char*>(track.at);
    if (track.step != 0)
      moves.push_back({at, track.step, track.by_turns ? -track.step : track.step});
  };
  struct Live {
    void *from, *to;
    std::size_t bytes;
  };
  SmallVector<Live, 4> copies;
  copies.reserve(copies_.size());
  for (const Copy& c : copies_) {
    const Track& to = out[c.to];
    const Track from = c.input >= 0    ? in[static_cast<std::size_t>(c.input)]
                       : c.output >= 0 ? out[static_cast<std::size_t>(c.output)]
                                       : Track{const_cast<void*>(c.constant)};
    if (from == to || c.bytes == 0) continue;
    Live& copy = copies.emplace_back(Live{nullptr, nullptr, c.bytes});
    follow(&copy.from, from);
    follow(&copy.to, to);
  }
  const bool profiled = is_profiling.load(std::memory_order_relaxed);
  if (profiled) {
    for (const auto& p : layout_->inputs) follow(&frame_->views[p.view].data, in[p.index]);
    for (const auto& p : layout_->outputs) follow(&frame_->views[p.view].data, out[p.index]);
  } else {
    for (const Frame::Patch& p : frame_->inputs) follow(p.where, in[p.index]);
    for (const Frame::Patch& p : frame_->outputs) follow(p.where, out[p.index]);
  }
  for (std::int64_t done = 0;;) {
    if ((done & 63) == 0) check_interrupt();
    if (profiled) [[unlikely]] {
      execute(*layout_, *frame_);
    } else {
      run_calls();
    }
    for (const Live& c : copies) std::memcpy(c.to, c.from, c.bytes);
    if (++done == count || (go_on && !*go_on)) return done;
    for (Move& m : moves) {
      *m.where += m.step;
      std::swap(m.step, m.following);
    }
  }
}

}  // namespace gradus
