// Every record under calls that nobody meant to write: its samples with ranks, sizes, dtypes,
// attributes, values and numbers of arguments changed at random. A call may succeed or throw one of
// our errors for users; it may not crash (the sanitizers watch), hang, or trip over an assertion of
// ours. What was running is printed whatever way the process ends.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "gradus/gradus.h"
#include "graph/dispatch.h"
#include "graph/elementwise.h"
#include "graph/op.h"
#include "ops/registry.h"
#include "tensor/tensor_impl.h"

extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace gradus {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 40;
constexpr std::int64_t kMostElements = 4096;    // of an argument
constexpr std::int64_t kMostResults = 1 << 16;  // of a call that is run
constexpr unsigned kSecondsPerRecord = 60;      // even sanitized, on a busy machine

struct Argument {
  DType dtype;
  Shape shape;
  double low, high;
};

struct FuzzCall {
  const Op* op;
  std::vector<Argument> in;
  std::vector<std::uint64_t> attrs;  // the bytes of the attributes

  const void* attributes() const { return attrs.empty() ? nullptr : attrs.data(); }
  std::string describe() const {
    std::string text = std::string(op->name()) + "(";
    for (const Argument& a : in)
      text += std::string(&a == in.data() ? "" : ", ") + name_of(a.dtype) + to_string(a.shape);
    return text + ") with " + (attrs.empty() ? "no attributes" : op->attrs().print(attributes()));
  }
};

const FuzzCall* running = nullptr;
void tell_what_was_running() {
  if (!running) return;
  const std::string text = "while fuzzing " + running->describe() + "\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  // An index below n.
  std::size_t below(std::size_t n) { return random_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

  std::int64_t size() { return one_of<std::int64_t>({0, 0, 1, 1, 2, 3, 4, 5, 7, kHuge}); }
  std::int64_t integer() {
    return one_of<std::int64_t>({0, 1, 2, 3, 4, 5, 7, 9, -1, -2, -3, -7, 64, -64, kHuge, -kHuge,
                                 std::numeric_limits<std::int64_t>::max(),
                                 std::numeric_limits<std::int64_t>::min()});
  }
  double real() {
    return one_of({0., -0., 1., -1., 0.5, 1e300, -1e300, 1e-310, 3.7,
                   std::numeric_limits<double>::infinity(),
                   -std::numeric_limits<double>::infinity(), std::nan("")});
  }
  DType dtype() { return static_cast<DType>(below(kDTypeCount)); }

  void change(Shape& shape) {
    const auto axis =
        shape.rank() ? static_cast<int>(below(static_cast<std::size_t>(shape.rank()))) : 0;
    switch (below(5)) {
      case 0:
        if (shape.rank() < kMaxRank) shape.insert(axis, size());
        break;
      case 1:
        if (shape.rank() > 0) shape.erase(axis);
        break;
      case 2:
        if (shape.rank() > 0) std::swap(shape[axis], shape[shape.rank() - 1]);
        break;
      default:
        if (shape.rank() > 0) shape[axis] = size();
    }
  }

  void change(Ints& list, int /*any value*/) {
    const auto at =
        list.rank() ? static_cast<int>(below(static_cast<std::size_t>(list.rank()))) : 0;
    switch (below(6)) {
      case 0:
        if (list.rank() < kMaxRank) list.insert(at, number());
        break;
      case 1:
        if (list.rank() > 0) list.erase(at);
        break;
      case 2:
        if (list.rank() > 0) std::swap(list[at], list[0]);
        break;
      default:
        if (list.rank() > 0) list[at] = number();
    }
  }

  // Any integer that a size or position may be; smaller ones are refused before they reach an op.
  Size number() { return std::max<std::int64_t>(integer(), -(std::int64_t{1} << 61)); }

  void change_attribute(FuzzCall& call) {
    const auto& fields = call.op->attrs().fields;
    if (fields.empty()) return;
    const AttrField& field = fields[below(fields.size())];
    void* at = reinterpret_cast<char*>(call.attrs.data()) + field.offset;
    switch (field.kind) {
      case AttrKind::boolean:
        *static_cast<bool*>(at) = one_in(2);
        break;
      case AttrKind::integer: {
        const std::int64_t value = integer();
        std::memcpy(at, &value, field.bytes);  // the low bytes
        break;
      }
      case AttrKind::size:
        *static_cast<Size*>(at) = number();
        break;
      case AttrKind::real:
        *static_cast<double*>(at) = real();
        break;
      case AttrKind::dtype:
        *static_cast<DType*>(at) = dtype();
        break;
      case AttrKind::ints:
        change(*static_cast<Ints*>(at), 0);
        break;
      case AttrKind::text:
        *static_cast<Text*>(at) = one_of({Text(""), Text("SAME"), Text("\xff{}%s"), Text("nchw")});
        break;
      case AttrKind::pointer:
      case AttrKind::held:
        break;
    }
  }

  // One size becomes another wherever it stands, so that the call still fits together.
  void change_everywhere(FuzzCall& call, const Shape& shape) {
    if (shape.rank() == 0) return;
    const std::int64_t from =
        shape[static_cast<int>(below(static_cast<std::size_t>(shape.rank())))];
    const std::int64_t to = size();
    const auto replace = [&](Shape& sizes) {
      for (int i = 0; i < sizes.rank(); ++i)
        if (sizes[i] == from) sizes[i] = to;
    };
    for (Argument& a : call.in) replace(a.shape);
    for (const AttrField& field : call.op->attrs().fields) {
      if (field.kind != AttrKind::ints) continue;
      replace(*reinterpret_cast<Ints*>(reinterpret_cast<char*>(call.attrs.data()) + field.offset));
    }
  }

  void change(FuzzCall& call) {
    if (call.in.empty() || one_in(3)) return change_attribute(call);
    Argument& a = call.in[below(call.in.size())];
    switch (below(10)) {
      case 0:
        a.dtype = dtype();
        break;
      case 1:
        for (Argument& other : call.in) other.dtype = a.dtype;
        break;
      case 2:
        a.low = -3;
        a.high = 300;
        break;
      case 3:
        if (one_in(3)) call.in.erase(call.in.begin() + (&a - call.in.data()));
        break;
      case 4:
        if (one_in(3)) call.in.push_back(a);
        break;
      case 5:
      case 6:
        change_everywhere(call, Shape(a.shape));
        break;
      default:
        change(a.shape);
    }
  }

  Tensor fill(const Argument& a) {
    Tensor t = make_tensor(a.dtype, a.shape);
    const double span = std::max(1.0, a.high - a.low);
    visit_dtype(a.dtype, [&](auto zero) {
      using T = decltype(zero);
      for (std::int64_t i = 0; i < t.num_elements(); ++i) {
        const double x = a.low + span * static_cast<double>(below(1024)) / 1024;
        T value;
        if constexpr (std::is_same_v<T, bool>) {
          value = x > 0;
        } else if constexpr (std::is_integral_v<T>) {
          value = static_cast<T>(static_cast<std::int64_t>(std::floor(x)));
        } else {
          value = T(static_cast<float>(one_in(64) ? real() : x));
        }
        std::memcpy(mutable_data<T>(t) + i, &value, sizeof value);
      }
    });
    return t;
  }

 private:
  std::mt19937_64 random_;
};

std::vector<FuzzCall> starts_of(const Op& op) {
  std::vector<FuzzCall> calls;
  const std::size_t words = (op.attrs().bytes + 7) / 8;
  const DType dtype = op.info.dtypes & one_dtype(float32)     ? float32
                      : op.info.dtypes & one_dtype(int64)     ? int64
                      : op.info.dtypes & one_dtype(complex64) ? complex64
                                                              : bool_;
  if (op.kind == Kind::elementwise) {
    for (const Shape& shape : {Shape{2, 3}, Shape{}, Shape{7}, Shape{1, 3}}) {
      FuzzCall call{&op, {}, {}};
      for (int i = 0; i < op.elementwise->arity; ++i) {
        const bool mask = op.elementwise->bool_inputs >> i & 1;
        call.in.push_back({mask ? bool_ : dtype, shape, op.info.low, op.info.high});
      }
      calls.push_back(call);
    }
  } else if (op.info.samples) {
    for (const Sample& s : op.info.samples()) {
      FuzzCall call{&op, {}, std::vector<std::uint64_t>(words)};
      for (const SampleArg& a : s.in) {
        const DType t = a.fill == Fill::integer ? int32 : a.fill == Fill::boolean ? bool_ : dtype;
        call.in.push_back({t, a.shape, a.low, a.high});
      }
      if (s.attrs) std::memcpy(call.attrs.data(), s.attrs.get(), op.attrs().bytes);
      calls.push_back(call);
    }
  }
  // Without samples (random numbers): from a seed.
  if (calls.empty())
    calls.push_back({&op, {{int64, {2}, 0, 9}}, std::vector<std::uint64_t>(words)});
  return calls;
}

// The elements of a shape, or something huge.
double count_of(const Shape& shape) {
  double n = 1;
  for (std::int64_t size : shape) n *= static_cast<double>(size);
  return n;
}

class RecordFuzz : public testing::TestWithParam<const Op*> {
 protected:
  void SetUp() override {
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(tell_what_was_running);
    std::signal(SIGALRM, [](int) {
      tell_what_was_running();
      _exit(1);
    });
    alarm(kSecondsPerRecord);
  }
  void TearDown() override {
    alarm(0);
    running = nullptr;
  }

  // Runs f; whether it came through. Errors for users are fine, all else is a finding.
  template <class F>
  bool survives(const FuzzCall& call, const char* what, F f) {
    try {
      f();
      return true;
    } catch (const InternalError& e) {
      ADD_FAILURE() << what << " of " << call.describe() << " is our bug: " << e.what();
    } catch (const Error&) {
    } catch (const std::exception& e) {
      ADD_FAILURE() << what << " of " << call.describe() << " threw what is not ours: " << e.what();
    }
    return false;
  }

  // Whether the call succeeded.
  bool try_call(const FuzzCall& call, Generator& generator) {
    SmallVector<View, 6> views;
    double elements = 0;
    for (const Argument& a : call.in) {
      views.push_back({nullptr, &a.shape, a.dtype});
      elements += count_of(a.shape);
    }
    Avals avals;
    const bool fits = survives(call, "the shape rule", [&] {
      infer_outputs({*call.op, call.attributes(), views}, avals);
    });
    if (elements > kMostElements) return false;
    double results = 0;
    for (const Aval& a : avals) results += count_of(a.shape);
    if (fits && results > static_cast<double>(kMostResults) && results < static_cast<double>(kHuge))
      return false;

    std::vector<Tensor> in;
    const bool filled = survives(call, "an argument", [&] {
      for (const Argument& a : call.in) in.push_back(generator.fill(a));
    });
    if (!filled) return false;
    Tensors out;
    GradientTape tape;
    std::vector<Source> sources;
    for (const Tensor& t : in) {
      if (!is_differentiable(t.dtype())) continue;
      tape.watch(t);
      sources.push_back(t);
    }
    const bool ran =
        survives(call, "the value", [&] { out = call.op->run(in, call.attributes()); });
    if (!ran) return false;
    EXPECT_TRUE(fits) << call.describe() << " ran although its shape rule refused it";
    EXPECT_LT(results, static_cast<double>(kHuge)) << call.describe();
    std::vector<Tensor> targets;
    for (const Tensor& t : out)
      if (is_differentiable(t.dtype())) targets.push_back(t);
    if (!sources.empty() && !targets.empty())
      survives(call, "the gradient", [&] { tape.gradient(targets, sources); });
    return true;
  }
};

TEST_P(RecordFuzz, ThrowsAtWorst) {
  const Op& op = *GetParam();
  const std::vector<FuzzCall> starts = starts_of(op);
  const char* more = std::getenv("GRADUS_FUZZ_MORE");  // for a longer search: how many times more
  const int rounds = (op.kind == Kind::elementwise ? 60 : 400) * (more ? std::atoi(more) : 1);
  Generator generator(std::hash<std::string>()(op.name()));
  int successes = 0;
  for (int i = 0; i < rounds && !HasFailure(); ++i) {
    FuzzCall call = starts[static_cast<std::size_t>(i) % starts.size()];
    running = &call;
    const std::size_t changes = 1 + generator.below(4);
    for (std::size_t k = 0; k < changes; ++k) generator.change(call);
    successes += try_call(call, generator);
    running = nullptr;
  }
  EXPECT_GT(successes, rounds / 100) << "too few calls get past the checks to say much";
}

INSTANTIATE_TEST_SUITE_P(AllOps, RecordFuzz, testing::ValuesIn(all_ops()),
                         [](const auto& info) { return std::string(info.param->name()); });

}  // namespace
}  // namespace gradus
