// Random tensors as functions of a seed tensor, so that a traced program draws new ones each time
// it is given new seeds. Stateful functions take their seeds from the thread's sequence.
#include "gradus/random.h"

#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <utility>

#include "base/check.h"
#include "base/function_ref.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/reduce.h"
#include "gradus/scan.h"
#include "gradus/shaping.h"
#include "gradus/sorting.h"
#include "graph/batch.h"
#include "graph/context.h"
#include "graph/graph.h"
#include "graph/symbols.h"
#include "kernels/op_seeds.h"
#include "kernels/philox.h"
#include "kernels/random.h"
#include "ops/checks.h"
#include "ops/records.h"
#include "ops/seed_log.h"
#include "ops/seed_nodes.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

enum class Distribution : std::int8_t { uniform, normal, truncated_normal, integers, order, bits };
enum class SeedKind : std::int8_t { pair, op_seeds, state };  // see kernels/philox.h

struct RandomAttrs {
  Shape shape;
  DType dtype = float32;
  Distribution distribution = Distribution::uniform;
  SeedKind seeds = SeedKind::pair;
  double a = 0, b = 1;  // low and high, or mean and standard deviation
  static auto fields() {
    return attr_fields(attr("shape", &RandomAttrs::shape), attr("dtype", &RandomAttrs::dtype),
                       attr("distribution", &RandomAttrs::distribution),
                       attr("seeds", &RandomAttrs::seeds), attr("a", &RandomAttrs::a),
                       attr("b", &RandomAttrs::b));
  }
};

void random_kernel(const KernelCall& c) {
  const auto& p = c.get<RandomAttrs>();
  const auto* seed = c.in[0].as<std::int64_t>();
  const kernels::Philox philox =
      p.seeds == SeedKind::pair    ? kernels::Philox::from_seed_pair(seed[0], seed[1])
      : p.seeds == SeedKind::state ? kernels::Philox::from_state({seed[0], seed[1], seed[2]})
                                   : kernels::Philox::from_op_seeds(seed[0], seed[1]);
  const std::int64_t n = c.out[0].count();
  void* out = c.out[0].data;
  switch (p.distribution) {
    case Distribution::uniform:
      return kernels::random_uniform(p.dtype, philox, n, p.a, p.b, out);
    case Distribution::normal:
      return kernels::random_normal(p.dtype, philox, n, p.a, p.b, out);
    case Distribution::truncated_normal:
      return kernels::random_truncated_normal(p.dtype, philox, n, p.a, p.b, out);
    case Distribution::integers: {
      const bool given = c.in.size() == 3;
      const auto low = given ? c.in[1].as<std::int64_t>()[0] : static_cast<std::int64_t>(p.a);
      const auto high = given ? c.in[2].as<std::int64_t>()[0] : static_cast<std::int64_t>(p.b);
      if (low >= high)
        fail<InvalidArgumentError>("[random.uniform] needs minval < maxval for integers, got ", low,
                                   " and ", high);
      return kernels::random_integers(
          p.dtype, philox, n, static_cast<std::uint64_t>(low),
          static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low), out);
    }
    case Distribution::bits:
      return kernels::random_integers(p.dtype, philox, n, 0, 0, out);
    case Distribution::order:
      return kernels::random_order(philox, n, c.out[0].as<std::int64_t>());
  }
}

bool makes(const RandomAttrs& p) {
  switch (p.distribution) {
    case Distribution::uniform:
    case Distribution::normal:
    case Distribution::truncated_normal:
      return is_floating(p.dtype);
    case Distribution::bits:
    case Distribution::integers:
      return (p.dtype == int32 || p.dtype == int64 || p.dtype == uint32 || p.dtype == uint64) &&
             p.a >= -0x1p63 && p.a < p.b && p.b < 0x1p63;
    case Distribution::order:
      return p.dtype == int64 && p.shape.rank() == 1;
  }
  return false;
}

void infer_random(const Call& c, Avals& out) {
  const auto& p = c.get<RandomAttrs>();
  const Shape wanted = {p.seeds == SeedKind::state ? 3 : 2};
  if (c.in[0].dtype != int64 || !(c.shape(0) == wanted)) {
    fail<InvalidArgumentError>("[random] the seed must be int64 of shape ", wanted, ", got ",
                               name_of(c.in[0].dtype), " of shape ", c.shape(0));
  }
  const bool has_bounds = c.in.size() == 3 && p.distribution == Distribution::integers;
  if (c.in.size() != 1 && !has_bounds)
    fail<InvalidArgumentError>("[random] got ", c.in.size(), " operands");
  for (std::size_t i = 1; i < c.in.size(); ++i) {
    if (c.in[i].dtype != int64 || c.in[i].shape->rank() != 0)
      fail<InvalidArgumentError>(
          "[random.uniform] minval and maxval of integers must be scalars, got ",
          name_of(c.in[i].dtype), " of shape ", *c.in[i].shape);
  }
  if (!makes(p)) {
    fail<InvalidArgumentError>("[random] got dtype ", name_of(p.dtype), ", shape ", p.shape,
                               " and the range from ", p.a, " to ", p.b,
                               ", which this distribution does not make");
  }
  check_sizes(c, "shape", p.shape);
  out.push_back({p.dtype, p.shape});
}

}  // namespace

// How many blocks were drawn from the streams of ops with a seed: by the op and its pair of seeds.
using Stream = std::array<std::int64_t, 3>;
using Drawn = std::map<Stream, std::uint64_t>;

// The seeds of a thread. They are on the heap: the static storage of threads is scarce in a library
// that is loaded late.
struct ThreadSeeds {
  std::optional<kernels::OpSeeds> given;  // by set_seed
  std::optional<kernels::OpSeeds> own;    // for ops without a seed, if none was given

  kernels::OpSeeds::Pair next() {
    if (given) return given->next();
    if (!own) own.emplace(static_cast<std::int64_t>(std::random_device()()));
    return own->next();
  }
  kernels::OpSeeds::Pair with_op_seed(std::int64_t seed) const {
    return given ? given->with_op_seed(seed) : kernels::OpSeeds::without_global_seed(seed);
  }
};

namespace {

std::unique_ptr<ThreadSeeds>& thread_seeds() {
  thread_local auto seeds = std::make_unique<ThreadSeeds>();
  return seeds;
}

// All threads draw from the same streams: workers that map a function see numbers of their own.
class Streams {
 public:
  // Where the next draw of a stream begins; it takes `blocks`.
  std::uint64_t take(const Stream& stream, std::uint64_t blocks) {
    const std::lock_guard lock(mutex_);
    return std::exchange(drawn_[stream], drawn_[stream] + blocks);
  }
  // The streams under a global seed begin again.
  void restart(std::int64_t global_seed) {
    const std::lock_guard lock(mutex_);
    std::erase_if(drawn_, [&](const auto& entry) { return entry.first[1] == global_seed; });
  }

 private:
  std::mutex mutex_;
  Drawn drawn_;
};
Streams& streams() {
  static Streams all;
  return all;
}

// Streams below are those of eager ops.
std::int64_t next_node_stream() {
  static std::atomic<std::int64_t> nodes = 1 << 16;
  return nodes++;
}

// A node that another process has traced draws from a stream of its own here too.
void renumber_stream(void* attrs, Renumbered& known, Renumber how) {
  double& stream = static_cast<SeedAttrs*>(attrs)->stream;
  double& seed = static_cast<SeedAttrs*>(attrs)->op_seed;
  if (!(std::abs(seed) <= 0x1p62)) seed = 0;
  if (!(stream >= 0)) {
    stream = -1;
    return;
  }
  const auto was = static_cast<std::int64_t>(std::min(stream, 0x1p62));
  const auto count = static_cast<std::int64_t>(known.size());
  const auto [entry, is_new] = known.try_emplace(was);
  if (is_new) entry->second = how == Renumber::anew ? next_node_stream() : count;
  stream = static_cast<double>(entry->second);
}

void draw_new_seeds(const KernelCall& c) {
  const auto& p = c.get<SeedAttrs>();
  ThreadSeeds& seeds = *thread_seeds();
  const kernels::OpSeeds::Pair pair =
      p.has_op_seed ? seeds.with_op_seed(static_cast<std::int64_t>(p.op_seed)) : seeds.next();
  auto* out = c.out[0].as<std::int64_t>();
  if (p.stream < 0) {
    out[0] = pair.seed;
    out[1] = pair.seed2;
    return;
  }
  const auto numbers = static_cast<std::uint64_t>(p.drawn.num_elements());
  // A shuffle takes a word for each row but one, and four are a block.
  const std::uint64_t blocks = p.is_order ? (numbers + 2) / 4 : kernels::Philox::reserved(numbers);
  const Stream stream = {static_cast<std::int64_t>(p.stream), pair.seed, pair.seed2};
  out[0] = static_cast<std::int64_t>(streams().take(stream, blocks));
  out[1] = pair.seed2;
  out[2] = pair.seed;
}

// The kernel also runs in programs that a repeated function calls.
void draw_seeds(const KernelCall& c) {
  if (!SeedScope::is_open()) return draw_new_seeds(c);
  const Tensor seeds = SeedScope::next([&] {
    draw_new_seeds(c);
    return Tensor::from(
        std::span(c.out[0].as<const std::int64_t>(), static_cast<std::size_t>(c.out[0].count())),
        *c.out[0].shape);
  });
  std::copy_n(seeds.data<std::int64_t>(), c.out[0].count(), c.out[0].as<std::int64_t>());
}

}  // namespace

// A node of what is being traced, so that each run of a program draws anew.
const Op next_seeds_op = internal({.name = "next_seeds",
                                   .doc = "The next seeds of the thread, or of an op's stream.",
                                   .attrs = &attr_type<SeedAttrs>(),
                                   .inputs = 0,
                                   .infer =
                                       [](const Call& c, Avals& out) {
                                         const bool is_pair = c.get<SeedAttrs>().stream < 0;
                                         out.push_back({int64, {is_pair ? 2 : 3}});
                                       },
                                   .kernel = draw_seeds,
                                   .renumber = renumber_stream,
                                   .stateful = true},
                                  "seeds are integers", Where::traced);

namespace {

Tensor drawn_seeds(const SeedAttrs& attrs) {
  Graph* graph = thread_context.graph;
  return graph ? graph->tensor(graph->add(next_seeds_op, &attrs, {}).first_out)
               : next_seeds_op.run_one({}, &attrs);
}

// Eager ops of one kind have one stream, each node of a graph has its own.
double stream_of(std::int64_t kind, DType dtype) {
  return static_cast<double>(thread_context.graph ? next_node_stream()
                                                  : kind << 8 | static_cast<std::int64_t>(dtype));
}

Tensor drawn_with(const Tensor& seeds, std::span<const Tensor> bounds, const RandomAttrs& attrs) {
  Tensors in = {seeds};
  for (const Tensor& t : bounds) in.push_back(t);
  return random_op.run_one(in, &attrs);
}

// Random numbers of an op that may have a seed; it leaves room for `reserved` of them.
Tensor drawn(RandomAttrs attrs, std::optional<std::int64_t> op_seed, std::span<const Tensor> bounds,
             const Shape& reserved, std::int64_t kind) {
  SeedAttrs seeds;
  attrs.seeds = SeedKind::op_seeds;
  if (op_seed) {
    attrs.seeds = SeedKind::state;
    seeds = {true, static_cast<double>(kernels::OpSeeds::truncated(*op_seed)),
             stream_of(kind, attrs.dtype), reserved, attrs.distribution == Distribution::order};
  }
  const auto draw = [&] { return SeedScope::next([&] { return drawn_seeds(seeds); }); };
  const bool stays = !seeds.drawn.is_known();  // the names of sizes belong to their graph
  return drawn_with(stays ? draw() : OuterSeeds::draw(draw), bounds, attrs);
}
Tensor drawn(const RandomAttrs& attrs, std::optional<std::int64_t> op_seed,
             std::span<const Tensor> bounds) {
  return drawn(attrs, op_seed, bounds, attrs.shape, static_cast<std::int64_t>(attrs.distribution));
}

using Draw = FunctionRef<Tensor(const RandomAttrs&, std::span<const Tensor> bounds)>;

// low + u * (high - low), with u from [0, 1); of integers one of the range.
Tensor uniform_numbers(const Shape& shape, const random::UniformOptions& o, Draw draw) {
  RandomAttrs attrs{.shape = shape, .dtype = o.dtype};
  const bool numbers = o.minval.is_number() && o.maxval.is_number();
  if (is_integer(o.dtype)) {
    if (!(o.dtype == int32 || o.dtype == int64 || o.dtype == uint32 || o.dtype == uint64)) {
      fail<InvalidArgumentError>("[random.uniform] got dtype ", name_of(o.dtype),
                                 "; integers are int32, int64, uint32 or uint64");
    }
    if (numbers && o.maxval.number() <= o.minval.number()) {
      fail<InvalidArgumentError>("[random.uniform] needs minval < maxval for integers, got ",
                                 o.minval.number(), " and ", o.maxval.number());
    }
    attrs.distribution = Distribution::integers;
    if (!numbers) return draw(attrs, Tensors{o.minval.as(int64), o.maxval.as(int64)});
  } else if (!is_floating(o.dtype)) {
    fail<InvalidArgumentError>("[random.uniform] got dtype ", name_of(o.dtype),
                               "; it makes floats and integers");
  }
  if (!numbers) {
    const Tensor low = o.minval.as(o.dtype);
    return draw(attrs, {}) * (o.maxval.as(o.dtype) - low) + low;
  }
  attrs.a = o.minval.number();
  attrs.b = o.maxval.number();
  return draw(attrs, {});
}

// z * stddev + mean.
Tensor normal_numbers(const Shape& shape, const random::NormalOptions& o, Distribution distribution,
                      Draw draw) {
  if (!is_floating(o.dtype)) {
    fail<InvalidArgumentError>("[random.normal] got dtype ", name_of(o.dtype), "; it makes floats");
  }
  RandomAttrs attrs{.shape = shape, .dtype = o.dtype, .distribution = distribution};
  if (!o.mean.is_number() || !o.stddev.is_number())
    return draw(attrs, {}) * o.stddev.as(o.dtype) + o.mean.as(o.dtype);
  attrs.a = o.mean.number();
  attrs.b = o.stddev.number();
  return draw(attrs, {});
}

Tensor as_seed(const Tensor& seed) { return seed.dtype() == int64 ? seed : cast(seed, int64); }

}  // namespace

const Op random_op =
    not_differentiable({.name = "random",
                        .doc = "Random numbers as a function of a seed of shape (2,), and of the "
                               "bounds of integers.",
                        .dtypes = one_dtype(int64),
                        .attrs = &attr_type<RandomAttrs>(),
                        .inputs = -1,
                        .infer = infer_random,
                        .kernel = random_kernel,
                        .batch = batch_loop,
                        .samples = [] { return std::vector<Sample>{}; },
                        .like = "tensorflow.random.stateless_uniform"},
                       "random numbers do not depend on anything differentiable");

void draw_from_state(void* attrs) { static_cast<RandomAttrs*>(attrs)->seeds = SeedKind::state; }

namespace random {

void set_seed(std::int64_t seed) {
  ThreadSeeds& seeds = *thread_seeds();
  seeds.given.emplace(seed);
  streams().restart(seeds.with_op_seed(0).seed);
}
Tensor op_seeds(std::optional<std::int64_t> seed) {
  if (seed) return drawn_seeds({true, static_cast<double>(*seed)});
  return SeedScope::next([] { return drawn_seeds({}); });
}

namespace {

// Draws of an op with or without a seed of its own, of a seed, or of a generator's state.
auto stateful(const std::optional<std::int64_t>& seed) {
  return [seed](const RandomAttrs& attrs, std::span<const Tensor> bounds) {
    return drawn(attrs, seed, bounds);
  };
}
auto of_seed(const Tensor& seed, SeedKind kind) {
  return [seed = as_seed(seed), kind](RandomAttrs attrs, std::span<const Tensor> bounds) {
    attrs.seeds = kind;
    return drawn_with(seed, bounds, attrs);
  };
}

}  // namespace

Tensor Parameter::as(DType dtype) const {
  if (is_number()) return gradus::cast(number_, dtype);
  return tensor_.dtype() == dtype ? tensor_ : gradus::cast(tensor_, dtype);
}

Tensor uniform(const Shape& shape, const UniformOptions& o, CallSite) {
  const OpenCall here;
  return uniform_numbers(shape, o, stateful(o.seed));
}
Tensor normal(const Shape& shape, const NormalOptions& o, CallSite) {
  const OpenCall here;
  return normal_numbers(shape, o, Distribution::normal, stateful(o.seed));
}
Tensor truncated_normal(const Shape& shape, const NormalOptions& o, CallSite) {
  const OpenCall here;
  return normal_numbers(shape, o, Distribution::truncated_normal, stateful(o.seed));
}
Tensor generated_uniform(const Shape& shape, In state, const UniformOptions& o) {
  return uniform_numbers(shape, o, of_seed(state, SeedKind::state));
}
Tensor generated_normal(const Shape& shape, In state, const NormalOptions& o) {
  return normal_numbers(shape, o, Distribution::normal, of_seed(state, SeedKind::state));
}
Tensor generated_truncated_normal(const Shape& shape, In state, const NormalOptions& o) {
  return normal_numbers(shape, o, Distribution::truncated_normal, of_seed(state, SeedKind::state));
}
Tensor generated_integers(const Shape& shape, In state, DType dtype) {
  return random_op({as_seed(state)}, RandomAttrs{.shape = shape,
                                                 .dtype = dtype,
                                                 .distribution = Distribution::bits,
                                                 .seeds = SeedKind::state});
}

Tensor stateless_integers(const Shape& shape, In seed, DType dtype) {
  return random_op({as_seed(seed)},
                   RandomAttrs{.shape = shape, .dtype = dtype, .distribution = Distribution::bits});
}
Tensor stateless_uniform(const Shape& shape, In seed, const UniformOptions& o) {
  return uniform_numbers(shape, o, of_seed(seed, SeedKind::pair));
}
Tensor stateless_normal(const Shape& shape, In seed, const NormalOptions& o) {
  return normal_numbers(shape, o, Distribution::normal, of_seed(seed, SeedKind::pair));
}
Tensor stateless_truncated_normal(const Shape& shape, In seed, const NormalOptions& o) {
  return normal_numbers(shape, o, Distribution::truncated_normal, of_seed(seed, SeedKind::pair));
}

namespace {

// The class into whose share of the unit interval each number falls. As TensorFlow: shares of
// logits that are not finite are empty.
Tensor pick_classes(const Tensor& logits, const Tensor& uniform) {
  const Tensor x = cast(logits, float64), finite = is_finite(x);
  const Tensor largest =
      reduce_max(where(finite, x, std::numeric_limits<double>::lowest()), {1}, true);
  const Tensor ends = cumsum(where(finite, exp(x - largest), 0.0), 1);
  const Size classes = logits.shape()[1];
  const Tensor total = slice(ends, {0, classes - 1}, {logits.shape()[0], 1});
  return searchsorted(ends, uniform * total, Side::right, int64);
}

Shape samples_shape(const Tensor& logits, std::int64_t num_samples) {
  if (logits.rank() != 2 || logits.shape()[1] == 0 || num_samples < 0 ||
      !is_floating(logits.dtype())) {
    fail<InvalidArgumentError>(
        "[categorical] got logits of shape ", logits.shape(), " and dtype ",
        name_of(logits.dtype()), " and num_samples ", num_samples,
        "; floating logits [rows, classes] with at least one class expected");
  }
  return {logits.shape()[0], num_samples};
}

}  // namespace

Tensor categorical(In logits, std::int64_t num_samples, std::optional<std::int64_t> seed) {
  const Shape shape = samples_shape(logits, num_samples);
  // TensorFlow draws two words for a sample, and samples by fours.
  constexpr std::int64_t kCategorical = 16;  // a kind beside the distributions
  const Shape reserved = {shape[0], 2 * ((num_samples + 3) / 4 * 4)};
  const RandomAttrs attrs{.shape = shape, .dtype = float64};
  return pick_classes(logits, drawn(attrs, seed, {}, reserved, kCategorical));
}
Tensor stateless_categorical(In logits, std::int64_t num_samples, In seed) {
  const Shape shape = samples_shape(logits, num_samples);
  return pick_classes(logits, stateless_uniform(shape, seed, {.dtype = float64}));
}

Tensor shuffle(In x, std::optional<std::int64_t> seed) {
  if (x->rank() == 0) return x;
  const RandomAttrs attrs{
      .shape = {x->shape()[0]}, .dtype = int64, .distribution = Distribution::order};
  return gather(x, drawn(attrs, seed, {}));
}

}  // namespace random

namespace nn {

Tensor dropout(In x, double rate, std::optional<std::int64_t> seed) {
  if (!(rate >= 0 && rate < 1)) {
    fail<InvalidArgumentError>("[dropout] rate must be in [0, 1), got ", rate);
  }
  if (rate == 0) return x;
  const Tensor keep =
      greater_equal(random::uniform(x->shape(), {.dtype = x->dtype(), .seed = seed}), rate);
  return where(keep, multiply(x, 1 / (1 - rate)), zeros({}, x->dtype()));
}

}  // namespace nn
}  // namespace gradus
