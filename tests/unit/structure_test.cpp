// Structs, layers and containers as arguments: every function that transforms functions sees each
// tensor, variable and number in them, or does not compile.
#include "gradus/structure.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "gradus/gradus.h"

namespace gradus {
namespace {

struct Linear {
  Tensor w, b;
};
struct Scaled {
  Linear linear;
  std::map<std::string, Tensor> named;
  std::vector<Linear> more;
  double scale = 1;
  std::optional<Tensor> extra;
};
struct Tree {
  Tensor here;
  std::vector<Tree> below;
};
class Hidden {  // says of what it consists
 public:
  Hidden(Tensor w, float rate) : w_(std::move(w)), rate_(rate) {}
  Tensor operator()(const Tensor& x) const { return x * w_ * rate_; }
  auto gradus_parts() { return std::tie(w_, rate_); }

 private:
  Tensor w_;
  float rate_;
};
class Closed {  // does not
 public:
  explicit Closed(Tensor w) : w_(std::move(w)) {}
  Tensor operator()(const Tensor& x) const { return x * w_; }

 private:
  Tensor w_;
};
class Slowed : public Hidden {  // what it inherits does not know of the power
 public:
  Slowed(Tensor w, float rate, int power) : Hidden(std::move(w), rate), power_(power) {}
  auto gradus_parts() { return std::tuple_cat(Hidden::gradus_parts(), std::tie(power_)); }
  int power() const { return power_; }

 private:
  int power_;
};
struct Inherits : Hidden {
  int power = 1;
};
struct Titled {  // a text is not all of it
  Tensor x;
  operator std::string() const { return "titled"; }
};
enum class Mode { twice, thrice };
struct WithSettings {
  Tensor x;
  Mode mode;
  int power;
  std::string name;
  Variable v;
};
struct WithVariable {
  Variable v;
};

Linear linear(float w, float b) { return {Tensor(w), Tensor(b)}; }
Scaled scaled(float first) {
  return {linear(first, 1),
          {{"a", Tensor(first)}},
          {linear(1, 2), linear(first, 3)},
          2.0,
          Tensor(first)};
}
Tensor value_of(const Scaled& s, const Tensor& x) {
  Tensor y = x * s.linear.w + s.linear.b;
  for (const auto& [name, t] : s.named) y = y + t;
  for (const Linear& l : s.more) y = y * l.w + l.b;
  return (s.extra ? y * *s.extra : y) * s.scale;
}

// What can be read, and what it holds.
static_assert(is_structure<Tensor> && is_structure<Linear> && is_structure<Scaled>);
static_assert(is_structure<Tree> && is_structure<Hidden> && is_structure<WithSettings>);
static_assert(is_structure<std::tuple<int, std::pair<Tensor, std::array<Linear, 2>>>>);
static_assert(is_structure<std::variant<Tensor, Linear>> && is_structure<std::vector<bool>>);
static_assert(is_structure<std::set<std::string>> && is_structure<std::complex<double>>);
static_assert(is_structure<keras::Dense> && is_structure<keras::Conv2D> &&
              is_structure<keras::Conv1DTranspose> && is_structure<keras::LSTM> &&
              is_structure<keras::GRU> && is_structure<keras::SimpleRNN> &&
              is_structure<keras::Bidirectional<keras::LSTM>> && is_structure<keras::Embedding> &&
              is_structure<keras::BatchNormalization> && is_structure<keras::LayerNormalization> &&
              is_structure<keras::Normalization> && is_structure<keras::Rescaling> &&
              is_structure<keras::MultiHeadAttention> && is_structure<keras::Dropout> &&
              is_structure<keras::MaxPooling2D> && is_structure<keras::GlobalAveragePooling1D> &&
              is_structure<keras::Flatten> && is_structure<keras::Reshape> &&
              is_structure<keras::Concatenate> && is_structure<keras::Add> &&
              is_structure<keras::Activation> && is_structure<keras::ReLU> &&
              is_structure<keras::LeakyReLU> && is_structure<keras::ELU> &&
              is_structure<keras::Softmax> && is_structure<keras::Lambda> &&
              is_structure<keras::Sequential>);
static_assert(is_structure<Slowed> && !is_structure<Inherits> && is_structure<Shape>);
static_assert(holds_values_only<Titled> && is_structure<std::filesystem::path>);
static_assert(!is_structure<Closed> && !is_structure<std::vector<Closed>>);
static_assert(!is_structure<std::pair<Tensor, Closed>> && !is_structure<Tensor*>);
static_assert(!is_structure<std::shared_ptr<Tensor>> && !is_structure<std::function<Tensor()>>);
static_assert(!is_structure<keras::Adam>);  // captured, not passed
static_assert(holds_values_only<Linear> && holds_values_only<Tree> &&
              holds_values_only<std::map<std::string, Linear>>);
static_assert(!holds_values_only<Scaled> && !holds_values_only<std::pair<Tensor, int>> &&
              !holds_values_only<WithVariable> && !holds_values_only<Closed>);
constexpr detail::Contents kNumber = detail::contents_of<double>();
static_assert(!kNumber.values && kNumber.settings);

TEST(Structure, DerivedClassesAndTextsAreReadWhole) {
  const auto f = function([](const Slowed& s, const Tensor& x) { return s(x) * s.power(); });
  EXPECT_EQ(f(Slowed(Tensor(2.0f), 1, 3), Tensor(5.0f)).item<float>(), 30);
  EXPECT_EQ(f(Slowed(Tensor(4.0f), 1, 3), Tensor(5.0f)).item<float>(), 60);
  EXPECT_EQ(f(Slowed(Tensor(4.0f), 1, 2), Tensor(5.0f)).item<float>(), 40);
  const auto g = function([](const Titled& t) { return t.x * 2; });
  EXPECT_EQ(g(Titled{Tensor(1.0f)}).item<float>(), 2);
  EXPECT_EQ(g(Titled{Tensor(3.0f)}).item<float>(), 6);
}

TEST(Structure, FunctionsSeeLayers) {
  random::set_seed(1);
  const keras::Dense a(3, 2, "tanh"), b(3, 2, "tanh"), c(3, 2, "relu");
  const Tensor x = {{0.5f, -1.0f, 2.0f}};
  const auto f = function([](const keras::Dense& layer, const Tensor& v) { return layer(v); });
  for (int i = 0; i < 2; ++i)
    for (const keras::Dense& layer : {a, b, c})
      EXPECT_EQ(to_string(f(layer, x)), to_string(layer(x))) << i;
  keras::Dense same = a;
  same.activation = "relu";  // the variables of a, another function
  EXPECT_EQ(to_string(f(same, x)), to_string(same(x)));
  EXPECT_EQ(f.trace_count(), 4);
  a.kernel.assign(a.kernel.value() * 2);
  EXPECT_EQ(to_string(f(a, x)), to_string(a(x)));
  EXPECT_EQ(f.trace_count(), 4);
}

template <class L>
void expect_seen(const L& a, const L& b, const Tensor& x, const char* what) {
  const auto call = [](const L& layer, const Tensor& v) -> Tensor {
    if constexpr (std::is_invocable_v<const L&, const Tensor&, bool> &&
                  !std::is_invocable_v<const L&, const Tensor&, const Tensor&>)
      return layer(v, false);
    else
      return layer(v);
  };
  const auto f = function(call);
  EXPECT_EQ(to_string(f(a, x)), to_string(call(a, x))) << what;
  EXPECT_EQ(to_string(f(b, x)), to_string(call(b, x))) << what;
  EXPECT_NE(to_string(call(a, x)), to_string(call(b, x))) << what;
  EXPECT_EQ(to_string(f(L(a), x)), to_string(call(a, x))) << what;
  EXPECT_LE(f.trace_count(), 2) << what;
}

TEST(Structure, FunctionsSeeEveryKindOfLayer) {
  using namespace keras;
  random::set_seed(2);
  const Tensor rows = random::normal({2, 4}), sequence = random::normal({2, 5, 4}),
               image = random::normal({1, 6, 6, 2});
  expect_seen(Conv2D(2, 3, 3), Conv2D(2, 3, 3), image, "Conv2D");
  expect_seen(LSTM(4, 3), LSTM(4, 3), sequence, "LSTM");
  expect_seen(SimpleRNN(4, 3), SimpleRNN(4, 3), sequence, "SimpleRNN");
  expect_seen(Bidirectional<GRU>(4, 3), Bidirectional<GRU>(4, 3), sequence, "Bidirectional");
  expect_seen(LayerNormalization(4, 1e-3), LayerNormalization(4, 0.5), rows, "LayerNormalization");
  expect_seen(Normalization(Tensor(1.0f), Tensor(2.0f)), Normalization(Tensor(0.0f), Tensor(2.0f)),
              rows, "Normalization");
  expect_seen(Rescaling(2), Rescaling(3), rows, "Rescaling");
  expect_seen(LeakyReLU(0.1), LeakyReLU(0.2), rows, "LeakyReLU");
  expect_seen(Activation("tanh"), Activation("relu"), rows, "Activation");
  expect_seen(MaxPooling2D({.pool_size = {2, 2}}), MaxPooling2D({.pool_size = {3, 3}}), image,
              "MaxPooling2D");
  expect_seen(Lambda([](const Tensor& x) { return x + 1; }),
              Lambda([](const Tensor& x) { return x + 2; }), rows, "Lambda");
  expect_seen(Sequential(Dense(4, 3, "tanh"), Dense(3, 2)),
              Sequential(Dense(4, 3, "tanh"), Dense(3, 2)), rows, "Sequential");
}

TEST(Structure, FunctionsSeeStructs) {
  const Tensor x = {1.0f, 2.0f};
  const auto f = function(value_of);
  for (const float first : {2.0f, 3.0f, 2.0f})
    EXPECT_EQ(to_string(f(scaled(first), x)), to_string(value_of(scaled(first), x)));
  EXPECT_EQ(f.trace_count(), 1);  // tensors are inputs
  Scaled other = scaled(2);
  other.scale = 5;
  EXPECT_EQ(to_string(f(other, x)), to_string(value_of(other, x)));
  other.extra.reset();
  EXPECT_EQ(to_string(f(other, x)), to_string(value_of(other, x)));
  other.named = {{"b", Tensor(1.0f)}, {"c", Tensor(7.0f)}};
  EXPECT_EQ(to_string(f(other, x)), to_string(value_of(other, x)));
  other.more.pop_back();
  EXPECT_EQ(to_string(f(other, x)), to_string(value_of(other, x)));
  EXPECT_EQ(f.trace_count(), 5);

  const auto g = function([](const WithSettings& s) {
    Tensor y = s.mode == Mode::twice ? s.x * 2 : s.x * 3;
    for (int i = 1; i < s.power; ++i) y = y * s.x;
    return (s.name == "plus" ? y + 1 : y) + s.v;
  });
  const Variable v(Tensor(10.0f)), w(Tensor(20.0f));
  const Tensor t(2.0f);
  EXPECT_EQ(g(WithSettings{t, Mode::twice, 1, "", v}).item<float>(), 14);
  EXPECT_EQ(g(WithSettings{t, Mode::thrice, 1, "", v}).item<float>(), 16);
  EXPECT_EQ(g(WithSettings{t, Mode::twice, 3, "", v}).item<float>(), 26);
  EXPECT_EQ(g(WithSettings{t, Mode::twice, 1, "plus", v}).item<float>(), 15);
  EXPECT_EQ(g(WithSettings{t, Mode::twice, 1, "", w}).item<float>(), 24);
  v.assign(Tensor(11.0f));
  EXPECT_EQ(g(WithSettings{Tensor(3.0f), Mode::twice, 1, "", v}).item<float>(), 17);
  EXPECT_EQ(g.trace_count(), 5);

  const auto h = function([](const Hidden& hidden, const Tensor& y) { return hidden(y); });
  EXPECT_EQ(h(Hidden(Tensor(2.0f), 3), t).item<float>(), 12);
  EXPECT_EQ(h(Hidden(Tensor(5.0f), 3), t).item<float>(), 30);
  EXPECT_EQ(h(Hidden(Tensor(5.0f), 4), t).item<float>(), 40);
  EXPECT_EQ(h.trace_count(), 2);
}

TEST(Structure, VariablesThatAreGoneAreNotTakenForNewOnes) {
  const auto f = function([](const WithVariable& s, const Tensor& x) {
    return s.v.shape().rank() == 0 ? x : x * 2;  // the variable is looked at, never read
  });
  for (int i = 0; i < 20; ++i) {
    const Variable v(i % 2 ? zeros({3}) : zeros({}));  // at the address of the one before
    EXPECT_EQ(f(WithVariable{v}, Tensor(1.0f)).item<float>(), i % 2 ? 2 : 1) << i;
  }
}

TEST(Structure, ResultsAreStructsToo) {
  const auto f = function([](const Linear& l, const Tensor& x) {
    return Scaled{{x * l.w, x * l.b}, {{"sum", x + l.w}}, {l}, 4.0, {}};
  });
  const Scaled s = f(linear(2, 3), Tensor(5.0f));
  EXPECT_EQ(s.linear.w.item<float>(), 10);
  EXPECT_EQ(s.linear.b.item<float>(), 15);
  EXPECT_EQ(s.named.at("sum").item<float>(), 7);
  EXPECT_EQ(s.more.at(0).b.item<float>(), 3);
  EXPECT_EQ(s.scale, 4.0);
  EXPECT_FALSE(s.extra.has_value());
}

TEST(Structure, OneFunctionOfSeveralTypesOfArguments) {
  const auto f = function([](const auto&... parts) {
    std::tuple all(parts...);
    return static_cast<float>(sizeof...(parts)) * tensors_of(all)[0];
  });
  const Tensor a(1.0f), b(2.0f);
  EXPECT_EQ(f(a, b).item<float>(), 2);
  EXPECT_EQ(f(std::pair(a, b)).item<float>(), 1);
  EXPECT_EQ(f(Linear{a, b}).item<float>(), 1);
  EXPECT_EQ(f.trace_count(), 3);
}

TEST(Structure, DerivativesHaveTheStructureOfWhatTheyBelongTo) {
  const Tensor x = {1.0f, 2.0f};
  const auto loss = [](const Scaled& s, const Tensor& v) { return reduce_sum(value_of(s, v)); };
  const Scaled at = scaled(2);
  const auto check = [&](const Scaled& g) {
    // y = ((2x + 1 + 2) * 1 + 2) * 2 + 3, times 2, times the scale 2
    EXPECT_EQ(g.linear.w.item<float>(), 8 * 3);
    EXPECT_EQ(g.linear.b.item<float>(), 8 * 2);
    EXPECT_EQ(g.named.at("a").item<float>(), 8 * 2);
    EXPECT_EQ(g.more.at(1).w.item<float>(), 4 * ((2 + 3 + 2) + (4 + 3 + 2)));
    EXPECT_EQ(g.extra->item<float>(), 2 * ((7 * 2 + 3) + (9 * 2 + 3)));
    EXPECT_EQ(g.scale, 2.0);
  };
  check(grad(loss)(at, x));
  check(function([&](const Scaled& s, const Tensor& v) { return grad(loss)(s, v); })(at, x));
  const auto of_struct = [&](const Scaled& s) { return loss(s, x); };
  const auto [y, pull] = vjp(of_struct, at);
  check(pull(Tensor(1.0f)));
  Scaled direction = detail::emptied(at);
  for_each_tensor(direction, [](Tensor& t) { t = Tensor(1.0f); });
  const float along = jvp(of_struct, at, direction).second.item<float>();
  float sum = 0;
  Scaled g = grad(of_struct)(at);
  for_each_tensor(g, [&](Tensor& t) { sum += t.item<float>(); });
  EXPECT_EQ(along, sum);
  EXPECT_EQ(linearize(of_struct, at).second(direction).item<float>(), sum);
  // Forward over reverse against a difference of gradients, which is exact for polynomials of
  // second order in each tensor along one of them.
  Scaled one = detail::emptied(at);
  for_each_tensor(one, [](Tensor& t) { t = Tensor(0.0f); });
  one.extra = Tensor(1.0f);
  Scaled up = at;
  up.extra = *at.extra + 1;
  const Scaled h = hvp(of_struct, at, one), g1 = grad(of_struct)(up);
  EXPECT_EQ(h.linear.w.item<float>(), (g1.linear.w - g.linear.w).item<float>());
  EXPECT_EQ(h.more.at(1).w.item<float>(), (g1.more.at(1).w - g.more.at(1).w).item<float>());
}

TEST(Structure, VmapMapsEveryTensorAndPassesLayersOn) {
  const Linear batch{Tensor({1.0f, 2.0f, 3.0f}), Tensor({10.0f, 20.0f, 30.0f})};
  const auto f = [](const Linear& l, const Tensor& x) { return Linear{l.w * x, l.b + x}; };
  const Tensor xs = {2.0f, 3.0f, 4.0f};
  const Linear out = vmap(f)(batch, xs);
  EXPECT_EQ(to_string(out.w), "[ 2.  6. 12.]");
  EXPECT_EQ(to_string(out.b), "[12. 23. 34.]");
  EXPECT_EQ(to_string(function([&](const Linear& l, const Tensor& x) { return vmap(f)(l, x).w; })(
                batch, xs)),
            "[ 2.  6. 12.]");
  random::set_seed(1);
  const keras::Dense layer(3, 2, "tanh");
  const Tensor rows = random::normal({4, 3});
  const auto one = [](const keras::Dense& d, const Tensor& row) {
    return reshape(d(reshape(row, {1, 3})), {2});
  };
  EXPECT_EQ(to_string(vmap(one)(layer, rows)), to_string(layer(rows)));
}

TEST(Structure, BranchesAndLoopsCarryStructs) {
  const auto chosen = [](const Tensor& x) {
    return cond(
        reduce_sum(x) > 0,
        [&] {
          return Linear{x, x * 2};
        },
        [&] {
          return Linear{-x, x * 3};
        });
  };
  const auto counted = [](const Tensor& x) {
    return while_loop([](const Linear& l) { return l.b < 3.0f; },
                      [](const Linear& l) {
                        return Linear{l.w * 2, l.b + 1};
                      },
                      Linear{x, Tensor(0.0f)});
  };
  const auto nested = [](const Tensor& x) {
    return while_loop([](const Tree& t) { return reduce_sum(t.here) < 10.0f; },
                      [](const Tree& t) {
                        return Tree{t.here + t.below[0].here, {Tree{t.below[0].here * 2, {}}}};
                      },
                      Tree{x, {Tree{x, {}}}})
        .here;
  };
  const auto scanned = [](const Tensor& x) {
    const auto [last, rows] = scan(
        [](const Linear& carry, const Linear& row) {
          const Linear next{carry.w + row.w, carry.b * row.b};
          return std::pair(next, Linear{next.w, next.b});
        },
        Linear{Tensor(0.0f), Tensor(1.0f)}, Linear{x, x * 2});
    return std::tuple(last, rows);
  };
  const Tensor up = {1.0f, 2.0f}, down = {-1.0f, 0.5f};
  for (const Tensor& x : {up, down}) {
    EXPECT_EQ(to_string(function(chosen)(x).w), to_string(chosen(x).w));
    EXPECT_EQ(to_string(function(chosen)(x).b), to_string(chosen(x).b));
  }
  EXPECT_EQ(to_string(counted(up).w), "[ 8. 16.]");
  EXPECT_EQ(to_string(function(counted)(up).w), "[ 8. 16.]");
  EXPECT_EQ(to_string(function(nested)(up)), to_string(nested(up)));
  const auto [last, rows] = function(scanned)(up);
  EXPECT_EQ(last.w.item<float>(), 3);
  EXPECT_EQ(last.b.item<float>(), 8);
  EXPECT_EQ(to_string(rows.b), "[2. 8.]");
  EXPECT_EQ(to_string(grad([&](const Tensor& x) { return reduce_sum(counted(x).w); })(up)),
            "[8. 8.]");
}

TEST(Structure, BranchesAndLoopsThatChangeTheStructureAreRefused) {
  using Named = std::map<std::string, Tensor>;
  const auto other_names = [](const Tensor& x) {
    return cond(
        reduce_sum(x) > 0,
        [&] {
          return Named{{"a", x}};
        },
        [&] {
          return Named{{"b", x}};
        });
  };
  EXPECT_THROW(function(other_names)(Tensor(1.0f)), InvalidArgumentError);
  const auto grows = [](const Tensor& x) {
    return while_loop([](const Named& n) { return reduce_sum(n.begin()->second) < 9.0f; },
                      [](const Named& n) {
                        return Named{{n.begin()->first + "a", n.begin()->second * 2}};
                      },
                      Named{{"a", x}});
  };
  EXPECT_THROW(grows(Tensor(1.0f)), InvalidArgumentError);
  EXPECT_THROW(function(grows)(Tensor(1.0f)), InvalidArgumentError);
}

}  // namespace
}  // namespace gradus
