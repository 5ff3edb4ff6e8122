#include "expr/interpreter.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "expr/schedule.h"
#include "expr/tile_ops.h"

namespace gradus::expr {
namespace {

// One action on tiles; the tiles are numbered slots of a buffer.
struct Step {
  enum Kind { input, read_scratch, compute, save, output, load_output, accumulate } kind;
  std::uint16_t out = 0, a = 0, b = 0, c = 0;  // slots
  std::uint16_t index = 0;                     // port, scratch row, output or reduction of the pass
  Type type = Type::f32;
  TileFn fn = nullptr;
  CopyFn copy = nullptr;
};

struct Reduction {
  Code code;
  Type type;
  std::uint16_t slot;  // of the result
};

struct Stage {
  std::vector<Step> row, element, row_outputs;
  std::vector<Reduction> reductions;
  bool columns = false;
};

std::size_t type_bytes(Type t) { return t == Type::mask ? 1 : is_wide(t) ? 8 : 4; }
std::size_t scratch_stride(std::int64_t cols) {
  return (static_cast<std::size_t>(cols) * 8 + 63) & ~std::size_t{63};
}

// Accumulators of one reduction: lane i takes the columns c with c % stripe == i. The fold halves
// the lanes (i with i + half) until one is left; a float sum is folded to a quarter of its lanes
// after every block and goes on in double.
template <class T>
struct Lanes {
  T lane[32];
  double total[8];
};
union Accumulator {
  Lanes<float> f32;
  Lanes<double> f64;
  Lanes<std::int32_t> i32;
  Lanes<std::int64_t> i64;
  Lanes<std::uint64_t> u64;
};

template <class T>
T combine(Code code, T a, T b) {
  switch (code) {
    case Code::reduce_max:
      return a != a ? a : a > b ? a : b;
    case Code::reduce_min:
      return a != a ? a : a < b ? a : b;
    case Code::reduce_prod:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) *
                              static_cast<std::make_unsigned_t<T>>(b));
      else
        return a * b;
    default:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                              static_cast<std::make_unsigned_t<T>>(b));
      else
        return a + b;
  }
}

template <class T>
T identity(Code code) {
  using Limits = std::numeric_limits<T>;
  switch (code) {
    case Code::reduce_max:
      return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    case Code::reduce_min:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    default:
      return code == Code::reduce_prod ? T{1} : T{0};
  }
}

template <class T>
struct Reducer {
  Lanes<T>& acc;
  Code code;
  int stripe;

  bool in_double() const { return std::is_floating_point_v<T> && code == Code::reduce_sum; }
  void start() {
    std::fill(acc.lane, acc.lane + 32, identity<T>(code));
    std::fill(acc.total, acc.total + 8, 0.0);
  }
  void take(const T* x, int n) {  // n columns starting at a multiple of the stripe
    for (int i = 0; i < n; ++i) {
      T& lane = acc.lane[i & (stripe - 1)];
      lane = combine(code, lane, x[i]);
    }
  }
  void fold(int from, int to) {
    for (int half = from / 2; half >= to; half /= 2)
      for (int i = 0; i < half; ++i) acc.lane[i] = combine(code, acc.lane[i], acc.lane[i + half]);
  }
  void end_block() {
    if (!in_double()) return;
    fold(stripe, stripe / 4);
    for (int i = 0; i < stripe / 4; ++i) acc.total[i] += static_cast<double>(acc.lane[i]);
    std::fill(acc.lane, acc.lane + 32, identity<T>(code));
  }
  T finish() {
    if (!in_double()) {
      fold(stripe, 1);
      return acc.lane[0];
    }
    for (int half = stripe / 8; half >= 1; half /= 2)
      for (int i = 0; i < half; ++i) acc.total[i] += acc.total[i + half];
    return static_cast<T>(acc.total[0]);
  }
};

template <class F>
void with_reducer(const Reduction& r, Accumulator& acc, int stripe, F f) {
  switch (r.type) {
    case Type::i32:
      return f(Reducer<std::int32_t>{acc.i32, r.code, stripe});
    case Type::i64:
      return f(Reducer<std::int64_t>{acc.i64, r.code, stripe});
    case Type::u64:
      return f(Reducer<std::uint64_t>{acc.u64, r.code, stripe});
    case Type::f64:
      return f(Reducer<double>{acc.f64, r.code, stripe});
    default:
      return f(Reducer<float>{acc.f32, r.code, stripe});
  }
}

// Tiles of this thread, kept for the next call.
std::byte* tile_buffer(std::size_t bytes) {
  struct Free {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  thread_local std::unique_ptr<std::byte, Free> buffer;
  thread_local std::size_t size = 0;
  if (bytes > size) {
    buffer.reset(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64})));
    std::memset(buffer.get(), 0, bytes);
    size = bytes;
  }
  return buffer.get();
}

}  // namespace

struct Interpreted {
  std::vector<Stage> stages;
  struct Constant {
    std::uint16_t slot;
    Type type;
    std::uint64_t bits;
  };
  std::vector<Constant> constants;
  std::vector<std::size_t> input_bytes, output_bytes;  // per element
  int slots = 0, stripe = 32;
  std::size_t most_reductions = 0;
};

namespace {

// Gives each value a slot: constants and row values for good, values per element until their last
// use in the pass.
class Planner {
 public:
  explicit Planner(const Program& p) : p_(p), s_(make_schedule(p)), slot_(p.code.size()) {}

  std::shared_ptr<const Interpreted> run() {
    plan_ = std::make_shared<Interpreted>();
    plan_->stripe = stripe_of(s_.wide);
    for (const Port& port : p_.inputs) plan_->input_bytes.push_back(size_of(port.dtype));
    for (const Output& o : p_.outputs) plan_->output_bytes.push_back(size_of(o.dtype));
    for (const std::uint16_t v : s_.constants)
      plan_->constants.push_back({slot_[v] = new_slot(), p_.code[v].type, p_.code[v].bits});
    for (const Pass& pass : s_.passes)
      for (const std::uint16_t v : pass.row) slot_[v] = new_slot();
    for (std::size_t k = 0; k < s_.passes.size(); ++k) plan_pass(k);
    return plan_;
  }

 private:
  std::uint16_t new_slot() { return static_cast<std::uint16_t>(plan_->slots++); }

  Step step_for(std::uint16_t v, std::size_t pass) const {
    const Instr& i = p_.code[v];
    Step step{.kind = Step::compute, .out = slot_[v], .type = i.type};
    if (s_.read_back(v, pass)) {
      step.kind = Step::read_scratch;
      step.index = static_cast<std::uint16_t>(s_.scratch[v]);
    } else if (i.code == Code::input) {
      step.kind = Step::input;
      step.index = i.a;
      step.copy = load_fn(p_.inputs[i.a].dtype);
    } else {
      const int count = operand_count(i);
      if (count > 0) step.a = slot_[i.a];
      if (count > 1) step.b = slot_[i.b];
      if (count > 2) step.c = slot_[i.c];
      step.fn = tile_fn(i, p_.code[i.a].type);
    }
    return step;
  }

  Step output_step(std::uint16_t k) const {
    const Output& o = p_.outputs[k];
    return {.kind = Step::output, .a = slot_[o.value], .index = k, .copy = store_fn(o.dtype)};
  }

  // Written as it is, or added to what is there.
  void plan_output(std::uint16_t k, Stage& stage) {
    Step store = output_step(k);
    if (p_.outputs[k].adds) {
      const Type type = type_of(p_.outputs[k].dtype);
      const std::uint16_t sum = new_slot();
      stage.element.push_back({.kind = Step::load_output,
                               .out = sum,
                               .index = k,
                               .copy = load_fn(p_.outputs[k].dtype)});
      stage.element.push_back({.kind = Step::compute,
                               .out = sum,
                               .a = sum,
                               .b = store.a,
                               .type = type,
                               .fn = tile_fn({Code::add, type}, type)});
      store.a = sum;
    }
    stage.element.push_back(store);
  }

  void plan_pass(std::size_t index) {
    const Pass& pass = s_.passes[index];
    Stage stage;
    stage.columns = pass.has_columns();
    for (const std::uint16_t v : pass.row)
      if (!is_reduction(p_.code[v].code)) stage.row.push_back(step_for(v, index));
    for (const std::uint16_t k : pass.row_outputs) stage.row_outputs.push_back(output_step(k));

    std::vector<std::size_t> last(p_.code.size(), 0);
    for (std::size_t n = 0; n < pass.element.size(); ++n) {
      const std::uint16_t v = pass.element[n];
      last[v] = std::max(last[v], n);
      if (!s_.read_back(v, index))
        for (int k = 0; k < operand_count(p_.code[v]); ++k) last[operand(p_.code[v], k)] = n;
    }
    for (const std::uint16_t k : pass.outputs) last[p_.outputs[k].value] = pass.element.size();
    std::vector<std::uint16_t> free;
    for (std::size_t n = 0; n < pass.element.size(); ++n) {
      const std::uint16_t v = pass.element[n];
      if (free.empty()) free.push_back(new_slot());
      slot_[v] = free.back();
      free.pop_back();
      stage.element.push_back(step_for(v, index));
      if (std::find(pass.saves.begin(), pass.saves.end(), v) != pass.saves.end())
        stage.element.push_back({.kind = Step::save,
                                 .a = slot_[v],
                                 .index = static_cast<std::uint16_t>(s_.scratch[v]),
                                 .type = p_.code[v].type});
      add_reductions(pass, v, stage);
      release(v, n, last, free);
      if (!s_.read_back(v, index))
        for (int k = 0; k < operand_count(p_.code[v]); ++k)
          release(operand(p_.code[v], k), n, last, free);
    }
    for (const std::uint16_t r : pass.reductions)
      if (!s_.varies[p_.code[r].a]) add_reductions(pass, p_.code[r].a, stage);
    for (const std::uint16_t k : pass.outputs) plan_output(k, stage);
    plan_->most_reductions = std::max(plan_->most_reductions, stage.reductions.size());
    plan_->stages.push_back(std::move(stage));
  }

  void release(std::uint16_t v, std::size_t step, std::vector<std::size_t>& last,
               std::vector<std::uint16_t>& free) const {
    if (!s_.varies[v] || last[v] != step) return;
    free.push_back(slot_[v]);
    last[v] = p_.code.size() + 1;  // an operand may occur twice
  }

  // Accumulates v into the reductions of the pass that want it and were not added yet.
  void add_reductions(const Pass& pass, std::uint16_t v, Stage& stage) {
    for (const std::uint16_t r : pass.reductions) {
      const auto done = [&](const Reduction& x) { return x.slot == slot_[r]; };
      if (p_.code[r].a != v || std::any_of(stage.reductions.begin(), stage.reductions.end(), done))
        continue;
      stage.element.push_back({.kind = Step::accumulate,
                               .a = slot_[v],
                               .index = static_cast<std::uint16_t>(stage.reductions.size())});
      stage.reductions.push_back({p_.code[r].code, p_.code[r].type, slot_[r]});
    }
  }

  const Program& p_;
  const Schedule s_;
  std::vector<std::uint16_t> slot_;
  std::shared_ptr<Interpreted> plan_;
};

// One call: the tiles, the accumulators and where each row of each array starts.
class Run {
 public:
  Run(const Interpreted& plan, const LoopArgs& args)
      : plan_(plan),
        args_(args),
        width_(static_cast<int>(std::clamp<std::int64_t>(args.cols, 1, kTile))) {
    const std::size_t tiles = static_cast<std::size_t>(plan.slots) * kTileBytes;
    buffer_ = tile_buffer(tiles + plan.most_reductions * sizeof(Accumulator));
    accumulators_ = reinterpret_cast<Accumulator*>(buffer_ + tiles);
    for (const auto& c : plan.constants) {
      std::memcpy(tile(c.slot), &c.bits, 8);
      splat(c.type, tile(c.slot), width_);
    }
  }

  void row(std::int64_t r) {
    row_ = r;
    for (const Stage& stage : plan_.stages) {
      for (const Step& step : stage.row) per_row(step);
      for (const Step& step : stage.row_outputs) step.copy(output(step.index, 0), tile(step.a), 1);
      if (stage.columns) columns(stage);
    }
  }

 private:
  void* tile(std::uint16_t slot) const { return buffer_ + std::size_t{slot} * kTileBytes; }
  const void* input(std::uint16_t k, std::int64_t col) const {
    return static_cast<const char*>(args_.in[k]) + row_ * args_.in_row_bytes[k] +
           col * static_cast<std::int64_t>(plan_.input_bytes[k]);
  }
  void* output(std::uint16_t k, std::int64_t col) const {
    return static_cast<char*>(args_.out[k]) + row_ * args_.out_row_bytes[k] +
           col * static_cast<std::int64_t>(plan_.output_bytes[k]);
  }
  char* scratch(const Step& step, std::int64_t col) const {
    return static_cast<char*>(args_.scratch) + step.index * scratch_stride(args_.cols) +
           static_cast<std::size_t>(col) * type_bytes(step.type);
  }

  void per_row(const Step& step) {
    if (step.kind == Step::input) {
      step.copy(tile(step.out), input(step.index, 0), 1);
      splat(step.type, tile(step.out), width_);
    } else {
      step.fn(tile(step.out), tile(step.a), tile(step.b), tile(step.c), padded(width_));
    }
  }

  void columns(const Stage& stage) {
    const std::size_t count = stage.reductions.size();
    for (std::size_t k = 0; k < count; ++k)
      with_reducer(stage.reductions[k], accumulators_[k], plan_.stripe, [](auto r) { r.start(); });
    for (std::int64_t col = 0; col < args_.cols; col += kTile) {
      const int n = static_cast<int>(std::min<std::int64_t>(kTile, args_.cols - col));
      for (const Step& step : stage.element) per_element(stage, step, col, n);
      if ((col + kTile) % kSumBlock == 0 || col + n == args_.cols)
        for (std::size_t k = 0; k < count; ++k)
          with_reducer(stage.reductions[k], accumulators_[k], plan_.stripe,
                       [](auto r) { r.end_block(); });
    }
    for (std::size_t k = 0; k < count; ++k)
      with_reducer(stage.reductions[k], accumulators_[k], plan_.stripe, [&](auto r) {
        const auto result = r.finish();
        std::memcpy(tile(stage.reductions[k].slot), &result, sizeof(result));
        splat(stage.reductions[k].type, tile(stage.reductions[k].slot), width_);
      });
  }

  void per_element(const Stage& stage, const Step& step, std::int64_t col, int n) {
    const std::size_t bytes = static_cast<std::size_t>(n) * type_bytes(step.type);
    switch (step.kind) {
      case Step::input:
        step.copy(tile(step.out), input(step.index, col), n);
        break;
      case Step::read_scratch:
        std::memcpy(tile(step.out), scratch(step, col), bytes);
        break;
      case Step::compute:
        step.fn(tile(step.out), tile(step.a), tile(step.b), tile(step.c), padded(n));
        break;
      case Step::save:
        std::memcpy(scratch(step, col), tile(step.a), bytes);
        break;
      case Step::output:
        step.copy(output(step.index, col), tile(step.a), n);
        break;
      case Step::load_output:
        step.copy(tile(step.out), output(step.index, col), n);
        break;
      case Step::accumulate:
        with_reducer(stage.reductions[step.index], accumulators_[step.index], plan_.stripe,
                     [&](auto r) {
                       using T = std::remove_reference_t<decltype(r.acc.lane[0])>;
                       r.take(static_cast<const T*>(tile(step.a)), n);
                     });
        break;
    }
  }

  const Interpreted& plan_;
  const LoopArgs& args_;
  const int width_;
  std::byte* buffer_;
  Accumulator* accumulators_;
  std::int64_t row_ = 0;
};

}  // namespace

std::shared_ptr<const Interpreted> interpret(const Program& lowered) {
  return Planner(lowered).run();
}

void run_interpreted(const LoopArgs* args, const void* interpreted) {
  Run run(*static_cast<const Interpreted*>(interpreted), *args);
  for (std::int64_t r = 0; r < args->rows; ++r) run.row(r);
}

}  // namespace gradus::expr
