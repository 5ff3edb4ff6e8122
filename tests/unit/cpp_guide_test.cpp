// The code of docs/cpp-guide.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

// [headers]
#include <gradus/gradus.h>

#include <functional>
#include <iostream>
#include <thread>

namespace gd = gradus;
// [/headers]

namespace {

// [index]
std::vector<gd::Tensor> parts_of(const gd::Tensor& x) {  // x is [[1, 2, 3], [4, 5, 6]]
  return {
      gd::index(x, {0}),                                     // x[0]: [1, 2, 3]
      gd::index(x, {1, -1}),                                 // x[1, -1]: 6
      gd::index(x, {gd::Slice{}, 1}),                        // x[:, 1]: [2, 5]
      gd::index(x, {gd::Slice{}, gd::Slice{1, 3}}),          // x[:, 1:3]: [[2, 3], [5, 6]]
      gd::index(x, {gd::ellipsis, gd::Slice{.step = -2}}),   // x[..., ::-2]: [[3, 1], [6, 4]]
      gd::index(x, {gd::Slice{.begin = -1}, gd::new_axis}),  // x[-1:, None]: [[[4, 5, 6]]]
      gd::slice(x, {0, 1}, {-1, 2}),  // begin and size; -1: to the end. [[2, 3], [5, 6]]
  };
}
// [/index]

// [pick]
std::vector<gd::Tensor> picked_from(const gd::Tensor& x) {
  const gd::Tensor rows = {1, 0, 1}, columns = {2, 0}, places = {{0, 1}, {1, 2}};
  const gd::Tensor one_of_each = {{2}, {0}};
  return {
      gd::gather(x, rows),               // [[4, 5, 6], [1, 2, 3], [4, 5, 6]]
      gd::gather(x, gd::Tensor(1)),      // [4, 5, 6]
      gd::gather(x, columns, 1),         // [[3, 1], [6, 4]]
      gd::gather(x, one_of_each, 1, 1),  // [[3], [4]]: row i of the indices is for row i of x
      gd::gather_nd(x, places),          // x[0, 1] and x[1, 2]: [2, 6]
      gd::boolean_mask(x, x > 2),        // [3, 4, 5, 6]
      gd::boolean_mask(x, gd::Tensor{true, false, true}, 1),  // [[1, 3], [4, 6]]
      gd::where(x > 4),                                       // where they are: [[1, 1], [1, 2]]
      gd::where(x > 4, x, 0),                                 // [[0, 0, 0], [0, 5, 6]]
  };
}
// [/pick]

// [change]
std::vector<gd::Tensor> changed(const gd::Tensor& x) {
  const gd::Tensor corner = {{0, 0}};
  return {
      gd::tensor_scatter_nd_update(x, corner, gd::Tensor{9.0}),   // [[9, 2, 3], [4, 5, 6]]
      gd::tensor_scatter_nd_add(x, corner, gd::Tensor{9.0}),      // [[10, 2, 3], [4, 5, 6]]
      gd::set_row(x, gd::Tensor(1), gd::Tensor{7.0, 8.0, 9.0}),   // [[1, 2, 3], [7, 8, 9]]
      gd::scatter_nd(corner, gd::Tensor{9.0}, {1, 2}),            // [[9, 0]]
      gd::where(gd::Tensor({{true}, {false}}), gd::square(x), x)  // [[1, 4, 9], [4, 5, 6]]
  };
}
// [/change]

// [rows]
gd::Gradient gradient_of_rows() {
  const gd::Variable table(gd::ones({1000, 2}));
  gd::GradientTape tape;
  const gd::Tensor loss = gd::reduce_sum(gd::gather(table, gd::Tensor{7, 3, 7}));
  return tape.gradient(loss, table);  // is_rows(): 3 rows of 2, for rows 7, 3 and 7 again
}
// [/rows]

// [structs]
struct Line {
  gd::Tensor slope, offset;
};
gd::Tensor height(const Line& line, const gd::Tensor& x) { return line.slope * x + line.offset; }
gd::Tensor distance(const Line& line, const gd::Tensor& x, const gd::Tensor& y) {
  return gd::reduce_sum(gd::square(height(line, x) - y));
}

Line descended(Line line, const gd::Tensor& x, const gd::Tensor& y) {
  const auto slopes = gd::function(gd::grad(distance));  // of the first argument: a Line
  for (int i = 0; i < 200; ++i) {
    const Line d = slopes(line, x, y);
    line = {line.slope - 0.05 * d.slope, line.offset - 0.05 * d.offset};
  }
  return line;
}
// Many lines, each at its own x: tensors in a struct have their examples along axis 0 too.
gd::Tensor heights(const Line& lines, const gd::Tensor& xs) { return gd::vmap(height)(lines, xs); }
// [/structs]

// [settings]
struct Model {
  gd::Variable scale;  // which variable it is; its value may change
  gd::Tensor offset;
  int power = 1;
};
gd::Tensor apply(const Model& m, const gd::Tensor& x) {
  gd::Tensor y = m.scale * x + m.offset;
  for (int i = 1; i < m.power; ++i) y = y * x;
  return y;
}

int traces_of_a_model() {
  const auto f = gd::function(apply);
  Model m{gd::Variable(gd::Tensor(2.0)), gd::Tensor(1.0)};
  f(m, gd::Tensor(3.0));  // 7, the first trace
  m.offset = gd::Tensor(5.0);
  m.scale.assign(10.0);
  f(m, gd::Tensor(3.0));  // 35, by the same program
  m.power = 2;
  f(m, gd::Tensor(3.0));  // 105, another trace
  return f.trace_count();
}
// [/settings]

// [parts]
class Filter {
 public:
  explicit Filter(gd::Tensor weights) : weights_(std::move(weights)) {}
  gd::Tensor operator()(const gd::Tensor& x) const { return gd::reduce_sum(weights_ * x); }
  auto gradus_parts() { return std::tie(weights_); }  // by reference, and all of them

 private:
  gd::Tensor weights_;
};
// [/parts]

// [compiled]
double trained(int steps) {
  const gd::Variable w(gd::Tensor(0.0));
  const auto step = gd::function(
      [&](const gd::Tensor& x, const gd::Tensor& y, const gd::Tensor& rate) {
        gd::GradientTape tape;
        const gd::Tensor loss = gd::reduce_mean(gd::square(w * x - y));
        w.assign_sub(rate * tape.gradient(loss, w).tensor());
        return loss;
      },
      {.name = "step"});
  const gd::Tensor x = {1.0, 2.0}, y = {3.0, 6.0};
  for (int i = 0; i < steps; ++i) step(x, y, i < 10 ? 0.1 : 0.05);  // a number is an input
  return step.trace_count() == 1 ? w.value().item<double>() : -1;
}
// [/compiled]

// [sizes]
const auto padded = gd::function([](const gd::Tensor& x) {
  const gd::Size n = x.shape()[0];
  return gd::concat({x, gd::zeros({2 * n + 1}, x.dtype())}, 0);  // sizes make sizes
});
const auto sum_or_max = gd::function([](const gd::Tensor& x) {
  return x.shape()[0] > 40 ? gd::reduce_sum(x) : gd::reduce_max(x);  // a question
});
// [/sizes]

// [found]
const auto mean_of_positive = gd::function([](const gd::Tensor& x) {
  const gd::Tensor some = gd::boolean_mask(x, x > 0);
  return gd::reduce_sum(some) / some.shape()[0];
});
const auto first = gd::function([](const gd::Tensor& x, const gd::Tensor& n) {
  return gd::slice_between(x, {}, n, {});  // x[:n]
});
const auto blank = gd::function([](const gd::Tensor& n) {
  return gd::zeros({gd::to_size(n), 2});  // a tensor as a size
});
// [/found]

// [grow]
// The numbers of a Collatz sequence: nobody knows how many there are.
const auto collatz = gd::function([](const gd::Tensor& start) {
  const auto step = [](const gd::Tensor& n, const gd::Tensor& seen) {
    const gd::Tensor next = gd::where(gd::equal(gd::floormod(n, 2), 0), n / 2, 3 * n + 1);
    return std::tuple(next, gd::concat({seen, gd::reshape(next, {1})}, 0));
  };
  const auto [last, all] =
      gd::while_loop([](const gd::Tensor& n, const gd::Tensor&) { return n > 1; }, step,
                     std::tuple(start, gd::reshape(start, {1})));
  return all;
});
// [/grow]

// [branch]
gd::Tensor huber(const gd::Tensor& x) {  // of one number
  return gd::cond(
      gd::abs(x) < 1, [&] { return 0.5 * x * x; }, [&] { return gd::abs(x) - 0.5; });
}
gd::Tensor one_of(const gd::Tensor& i, const gd::Tensor& x) {
  const std::vector<std::function<gd::Tensor()>> branches = {[&] { return x; },
                                                             [&] { return gd::square(x); }};
  return gd::switch_case(i, branches);  // out of range: the last one
}
// [/branch]

// [loop]
gd::Tensor root(const gd::Tensor& a) {  // Newton's method
  return gd::while_loop([&](const gd::Tensor& x) { return gd::abs(x * x - a) > 1e-12; },
                        [&](const gd::Tensor& x) { return 0.5 * (x + a / x); }, a,
                        {.maximum_iterations = 50});
}
// [/loop]

// [scan]
struct Motion {
  gd::Tensor place, speed;
};
// All places of something that is pushed, and its speed at the end.
std::pair<gd::Tensor, gd::Tensor> flight(const gd::Tensor& pushes) {
  const auto step = [](const Motion& m, const gd::Tensor& push) {
    const gd::Tensor speed = m.speed + push, place = m.place + speed;
    return std::pair(Motion{place, speed}, place);  // what is carried on, and one row
  };
  const auto [last, places] = gd::scan(step, Motion{gd::Tensor(0.0), gd::Tensor(0.0)}, pushes);
  return {places, last.speed};
}
// [/scan]

// [products]
gd::Tensor polar(const gd::Tensor& p) {  // radius and angle to x and y
  const gd::Tensor r = gd::index(p, {0}), a = gd::index(p, {1});
  return gd::stack({r * gd::cos(a), r * gd::sin(a)});
}

gd::Tensor along(const gd::Tensor& p, const gd::Tensor& v) {
  return gd::jvp(polar, p, v).second;  // J v, with the value in `first`
}
gd::Tensor back(const gd::Tensor& p, const gd::Tensor& w) {
  const auto [y, pull] = gd::vjp(polar, p);
  return pull(w);  // J^T w; pull may be called often
}
gd::Tensor bent(const gd::Tensor& p, const gd::Tensor& v) {
  return gd::hvp([](const gd::Tensor& q) { return gd::reduce_sum(polar(q)); }, p, v);  // H v
}
// [/products]

// [accumulator]
gd::Tensor change_of_a_loss(const gd::Variable& w, const gd::Tensor& direction) {
  const gd::ForwardAccumulator acc(w, direction);  // w moves this way while acc lives
  const gd::Tensor loss = gd::reduce_sum(gd::square(w));
  return acc.jvp(loss);
}
// [/accumulator]

// [matrices]
gd::Tensor jacobian_of_polar(const gd::Tensor& p) {
  const gd::Jacobian j = gd::jacobian(polar, p);
  std::cout << j.report();  // which mode, why, and at what cost
  return j;
}
std::vector<gd::Tensor> second_derivatives(const gd::Tensor& x, const gd::Tensor& y) {
  const auto f = [](const gd::Tensor& a, const gd::Tensor& b) { return gd::reduce_sum(a * a * b); };
  const gd::Jacobian h = gd::hessian(f, {x, y});
  return h.blocks();  // xx, xy, yx, yy
}
// [/matrices]

// [vmap]
gd::Tensor error_of(const gd::Tensor& w, const gd::Tensor& x, const gd::Tensor& y) {
  return gd::square(gd::reduce_sum(w * x) - y);  // one example: x has one axis, y none
}

gd::Tensor errors(const gd::Tensor& w, const gd::Tensor& xs, const gd::Tensor& ys) {
  return gd::vmap(error_of, std::nullopt, 0, 0)(w, xs, ys);  // w is for all
}
gd::Tensor gradient_of_each(const gd::Tensor& w, const gd::Tensor& xs, const gd::Tensor& ys) {
  return gd::vmap(gd::grad(error_of), std::nullopt, 0, 0)(w, xs, ys);
}
// [/vmap]

// [custom]
// The value is x; the gradient is kept between -1 and 1.
const auto clipped = gd::custom_gradient([](const gd::Tensor& x) {
  return std::pair(x, [](const gd::Tensor& dy) { return gd::clip_by_value(dy, -1, 1); });
});
// A rule for forward mode: rule(x, dx) is the tangent, and linear in dx.
const auto gentle_sqrt = gd::custom_jvp([](const gd::Tensor& x) { return gd::sqrt(x); },
                                        [](const gd::Tensor& x, const gd::Tensor& dx) {
                                          return 0.5 * dx / gd::sqrt(gd::maximum(x, 0.25));
                                        });
// A tape keeps x, not what is computed on the way.
const auto lean = gd::recompute_grad([](const gd::Tensor& x) { return gd::exp(gd::sin(x)); });
// [/custom]

// [files]
gd::Tensor kept_in_files(const std::string& folder) {
  const gd::Tensor w = {{1.0, 2.0}, {3.0, 4.0}}, b = {5.0, 6.0};
  gd::save_npy(folder + "/w.npy", w);
  gd::save_npz(folder + "/both.npz", {{"w", w}, {"b", b}});
  gd::Hdf5Node group;
  group.children["b"].value = b;
  gd::save_hdf5(folder + "/b.h5", group);

  const gd::Hdf5Node read = gd::load_hdf5(folder + "/b.h5");
  return gd::load_npy(folder + "/w.npy") + gd::load_npz(folder + "/both.npz").at("b") +
         std::get<gd::Tensor>(read.children.at("b").value);
}
// [/files]

// [saved]
void save_line(const std::string& path) {
  const gd::Variable slope(gd::Tensor(2.0));
  const auto f = gd::function([&](const gd::Tensor& x) { return slope * x + 1; });
  f(gd::Tensor{1.0});
  f(gd::Tensor{1.0, 2.0});  // two sizes: the program is one for all
  gd::save_function(path, f.saved());
}
gd::Tensor load_line(const std::string& path, const gd::Tensor& x) {
  const gd::LoadedFunction f = gd::load_function(path);  // needs no C++ code of f
  return f({x})[0];
}
// [/saved]

// [threads]
std::vector<double> gradients_in_threads() {
  const auto cube = gd::function([](const gd::Tensor& x) { return x * x * x; });
  std::vector<double> slopes(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < slopes.size(); ++i)
    threads.emplace_back(
        [&, i] { slopes[i] = gd::grad(cube)(gd::Tensor(static_cast<double>(i))).item<double>(); });
  for (std::thread& t : threads) t.join();
  return slopes;  // 0, 3, 12, 27
}
// [/threads]

// [profile]
std::string where_the_time_goes() {
  const auto f =
      gd::function([](const gd::Tensor& x) { return gd::reduce_sum(gd::tanh(x * 2 + 1)); });
  const gd::Tensor x = gd::ones({1000});
  f(x);  // tracing is not what we want to see
  gd::Profile profile;
  for (int i = 0; i < 10; ++i) f(gd::exp(x));
  return profile.table();  // a row for exp, and one for all of f
}
// [/profile]

// [cost]
bool fits(const gd::Tensor& x) {
  const auto f = gd::function([](const gd::Tensor& v) { return gd::matmul(v, v); });
  const gd::Estimate cost = f.estimate(x);  // the call is not made
  return cost.peak_bytes() < (std::int64_t{1} << 30) && cost.seconds < 1;
}
// [/cost]

// [errors]
std::string what_went_wrong() {
  try {
    gd::matmul(gd::ones({2, 3}), gd::ones({2, 3}));
  } catch (const gd::InvalidArgumentError& e) {  // all of them are gd::Error
    return e.what();
  }
  return "nothing";
}
// [/errors]

// [effects]
const auto watched = gd::function([](const gd::Tensor& x) {
  std::cout << "traced\n";  // at the first call only
  const gd::HostFunction::Run print = [](const std::vector<gd::Tensor>& in) {
    std::cout << "called with " << in[0] << "\n";  // at each call
    return std::vector<gd::Tensor>();
  };
  gd::host_call({.name = "print", .run = print}, {x}, {});
  return x * 2;
});
// [/effects]

// As it is printed, on one line and without spaces that only align columns.
std::string shown(const gd::Tensor& t) {
  std::string text;
  for (const char c : gd::to_string(t)) {
    const bool is_space = c == ' ' || c == '\n';
    if (c == ']' && text.back() == ' ') text.pop_back();
    if (is_space && (text.back() == ' ' || text.back() == '[')) continue;
    text += is_space ? ' ' : c;
  }
  return text;
}
std::vector<std::string> shown(const std::vector<gd::Tensor>& tensors) {
  std::vector<std::string> texts;
  for (const gd::Tensor& t : tensors) texts.push_back(shown(t));
  return texts;
}
using Texts = std::vector<std::string>;

class Folder {  // one of our own, gone at the end
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / "gradus_cpp_guide_test") {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

const gd::Tensor kMatrix = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};

TEST(CppGuide, Indexing) {
  EXPECT_EQ(shown(parts_of(kMatrix)),
            (Texts{"[1. 2. 3.]", "6.0", "[2. 5.]", "[[2. 3.] [5. 6.]]", "[[3. 1.] [6. 4.]]",
                   "[[[4. 5. 6.]]]", "[[2. 3.] [5. 6.]]"}));
  EXPECT_EQ(shown(picked_from(kMatrix)),
            (Texts{"[[4. 5. 6.] [1. 2. 3.] [4. 5. 6.]]", "[4. 5. 6.]", "[[3. 1.] [6. 4.]]",
                   "[[3.] [4.]]", "[2. 6.]", "[3. 4. 5. 6.]", "[[1. 3.] [4. 6.]]", "[[1 1] [1 2]]",
                   "[[0. 0. 0.] [0. 5. 6.]]"}));
  EXPECT_EQ(shown(changed(kMatrix)),
            (Texts{"[[9. 2. 3.] [4. 5. 6.]]", "[[10. 2. 3.] [4. 5. 6.]]", "[[1. 2. 3.] [7. 8. 9.]]",
                   "[[9. 0.]]", "[[1. 4. 9.] [4. 5. 6.]]"}));
  // Positions must exist, the ends of slices need not.
  EXPECT_THROW(gd::index(kMatrix, {2}), gd::InvalidArgumentError);
  EXPECT_EQ(gd::index(kMatrix, {gd::Slice{1, 100}}).shape(), (gd::Shape{1, 3}));
  EXPECT_THROW(gd::slice(kMatrix, {0, 1}, {2, 3}), gd::InvalidArgumentError);
  EXPECT_THROW(gd::gather(kMatrix, gd::Tensor{2}), gd::InvalidArgumentError);
  EXPECT_THROW(gd::gather(kMatrix, gd::Tensor{-1}), gd::InvalidArgumentError);
  EXPECT_EQ(gd::Tensor(3).shape(), gd::Shape{});
  EXPECT_EQ(gd::Tensor{3}.shape(), gd::Shape{1});
  // All of it has derivatives.
  EXPECT_EQ(shown(gd::grad([](const gd::Tensor& x) {
              return gd::reduce_sum(gd::square(gd::index(x, {gd::ellipsis, gd::Slice{1, 3}})));
            })(kMatrix)),
            "[[0. 4. 6.] [0. 10. 12.]]");
}

TEST(CppGuide, Rows) {
  const gd::Gradient g = gradient_of_rows();
  ASSERT_TRUE(g.is_rows());
  EXPECT_EQ(shown(g.indices()), "[7 3 7]");
  EXPECT_EQ(g.values().shape(), (gd::Shape{3, 2}));
  EXPECT_EQ(shown(gd::gather(g.tensor(), gd::Tensor{3, 7, 8})), "[[1. 1.] [2. 2.] [0. 0.]]");
}

TEST(CppGuide, Structures) {
  const gd::Tensor x = {0.0, 1.0, 2.0}, y = {1.0, 3.0, 5.0};
  const Line fitted = descended({gd::Tensor(0.0), gd::Tensor(0.0)}, x, y);
  EXPECT_NEAR(fitted.slope.item<double>(), 2, 1e-6);
  EXPECT_NEAR(fitted.offset.item<double>(), 1, 1e-6);
  EXPECT_EQ(shown(heights({gd::Tensor{1.0, 2.0}, gd::Tensor{10.0, 20.0}}, gd::Tensor{3.0, 4.0})),
            "[13. 28.]");
  EXPECT_EQ(traces_of_a_model(), 2);
  Model m{gd::Variable(gd::Tensor(2.0)), gd::Tensor(1.0)};
  EXPECT_EQ(apply(m, gd::Tensor(3.0)).item<double>(), 7);
  const Model d = gd::grad(apply)(m, gd::Tensor(3.0));
  EXPECT_EQ(d.offset.item<double>(), 1);
  EXPECT_EQ(d.scale, m.scale);  // the variable itself
  EXPECT_EQ(d.scale.value().item<double>(), 2);
  gd::GradientTape tape;
  EXPECT_EQ(tape.gradient(apply(m, gd::Tensor(3.0)), m.scale).tensor().item<double>(), 3);
  const auto filtered = gd::function([](const Filter& f, const gd::Tensor& v) { return f(v); });
  EXPECT_EQ(filtered(Filter(gd::Tensor{1.0, 2.0}), gd::Tensor{3.0, 4.0}).item<double>(), 11);
  EXPECT_EQ(filtered(Filter(gd::Tensor{2.0, 2.0}), gd::Tensor{3.0, 4.0}).item<double>(), 14);
  EXPECT_EQ(filtered.trace_count(), 1);
  // Also maps, vectors, tuples, optionals and variants.
  using Named = std::map<std::string, std::vector<gd::Tensor>>;
  const Named named = gd::grad([](const Named& n) {
    return gd::reduce_sum(n.at("a")[0] * n.at("a")[1]);
  })(Named{{"a", {gd::Tensor{1.0, 2.0}, gd::Tensor{3.0, 4.0}}}});
  EXPECT_EQ(shown(named.at("a")[0]), "[3. 4.]");
  EXPECT_TRUE((gd::is_structure<std::variant<std::optional<Line>, std::tuple<Model, Filter>>>));
  EXPECT_FALSE(gd::is_structure<std::function<gd::Tensor()>>);
}

TEST(CppGuide, CompiledFunctions) {
  EXPECT_NEAR(trained(60), 3, 1e-6);
  for (const int n : {2, 3, 7, 1, 0})
    EXPECT_EQ(padded(gd::ones({n})).shape(), gd::Shape{3 * n + 1});
  EXPECT_EQ(padded.trace_count(), 2) << padded.explain();
  for (const int n : {2, 3, 50, 60, 4})
    EXPECT_EQ(sum_or_max(gd::ones({n})).item<int>(), n > 40 ? n : 1);
  EXPECT_EQ(sum_or_max.trace_count(), 3) << sum_or_max.explain();
  const std::string why = sum_or_max.explain();
  EXPECT_EQ(why.rfind("function: 3 traces\ntrace 1: the first call\n", 0), 0u) << why;
  EXPECT_NE(why.find("trace 2: argument 0 was float32 (2,) and is float32 (3,)\n"
                     "  signature: float32 (s0,)\n"),
            std::string::npos)
      << why;
  EXPECT_NE(why.find("\n  only where s0 <= 40 at "), std::string::npos) << why;
  EXPECT_NE(why.find("\n  only where s0 > 40 at "), std::string::npos) << why;
  EXPECT_NE(why.find("\ntrace 3: argument 0 was float32 (s0,) and is float32 (50,)\n"),
            std::string::npos)
      << why;
  // Integers and real numbers are different inputs.
  const auto times = gd::function([](const gd::Tensor& a, const gd::Tensor& n) { return a * n; });
  for (const int n : {2, 3, 4}) EXPECT_EQ(times(gd::Tensor(5.0), n).item<double>(), 5 * n);
  EXPECT_EQ(times.trace_count(), 1);
  EXPECT_EQ(times(gd::Tensor(5.0), 2.5).item<double>(), 12.5);
  EXPECT_EQ(times.trace_count(), 2);
  // A captured tensor is a constant, a captured variable is not.
  gd::Tensor factor(2.0);
  const gd::Variable variable(gd::Tensor(2.0));
  const auto captures = gd::function([&](const gd::Tensor& a) { return a * factor * variable; });
  EXPECT_EQ(captures(gd::Tensor(1.0)).item<double>(), 4);
  factor = gd::Tensor(7.0);
  variable.assign(3.0);
  EXPECT_EQ(captures(gd::Tensor(1.0)).item<double>(), 6);
  // A C++ loop over a size is a trace for each, a slice one for each side of its end.
  const auto looped = gd::function([](const gd::Tensor& a) {
    gd::Tensor sum(0.0f);
    for (int i = 0; i < a.shape()[0]; ++i) sum = sum + gd::index(a, {i});
    return sum;
  });
  const auto cut =
      gd::function([](const gd::Tensor& a) { return gd::index(a, {gd::Slice{.end = 3}}); });
  for (const int n : {1, 2, 4, 6, 8}) {
    EXPECT_EQ(looped(gd::ones({n})).item<int>(), n);
    EXPECT_EQ(cut(gd::ones({n})).shape(), gd::Shape{std::min(n, 3)});
  }
  EXPECT_EQ(looped.trace_count(), 5);
  EXPECT_EQ(cut.trace_count(), 3) << cut.explain();
}

TEST(CppGuide, SizesThatTheDataDecide) {
  EXPECT_EQ(mean_of_positive(gd::Tensor{1.0, -2.0, 3.0}).item<double>(), 2);
  EXPECT_EQ(mean_of_positive(gd::Tensor{-1.0, 7.0, -3.0}).item<double>(), 7);
  EXPECT_EQ(shown(gd::grad(mean_of_positive)(gd::Tensor{1.0, -2.0, 3.0})), "[0.5 0. 0.5]");
  EXPECT_EQ(mean_of_positive.trace_count(), 1);
  const gd::Tensor x = {1.0, 2.0, 3.0};
  EXPECT_EQ(shown(first(x, gd::Tensor(2))), "[1. 2.]");
  EXPECT_EQ(shown(first(x, gd::Tensor(0))), "[]");
  EXPECT_EQ(shown(first(x, gd::Tensor(-1))), "[1. 2.]");
  EXPECT_EQ(shown(first(x, gd::Tensor(9))), "[1. 2. 3.]");
  EXPECT_EQ(first.trace_count(), 1);
  EXPECT_EQ(blank(gd::Tensor(3)).shape(), (gd::Shape{3, 2}));
  EXPECT_EQ(blank(gd::Tensor(0)).shape(), (gd::Shape{0, 2}));
  EXPECT_EQ(blank.trace_count(), 1);
  EXPECT_THROW(blank(gd::Tensor(-1)), gd::InvalidArgumentError);
  EXPECT_EQ(shown(collatz(gd::Tensor(6))), "[6 3 10 5 16 8 4 2 1]");
  EXPECT_EQ(shown(collatz(gd::Tensor(4))), "[4 2 1]");
  EXPECT_EQ(collatz.trace_count(), 1);
  const auto chosen = [](const gd::Tensor& v) { return gd::boolean_mask(v, v > 2); };
  EXPECT_THROW(gd::vmap(chosen)(kMatrix), gd::Error);
  EXPECT_EQ(shown(gd::vmap([](const gd::Tensor& v) { return gd::where(v > 2, 2); })(kMatrix)),
            "[[[2] [0]] [[0] [1]]]");
}

TEST(CppGuide, BranchesAndLoops) {
  const auto compiled = gd::function(huber);
  for (const double x : {0.5, -3.0}) {
    EXPECT_EQ(huber(gd::Tensor(x)).item<double>(), x == 0.5 ? 0.125 : 2.5);
    EXPECT_EQ(compiled(gd::Tensor(x)).item<double>(), x == 0.5 ? 0.125 : 2.5);
    EXPECT_EQ(gd::grad(compiled)(gd::Tensor(x)).item<double>(), x == 0.5 ? 0.5 : -1);
  }
  EXPECT_EQ(compiled.trace_count(), 1);
  EXPECT_EQ(shown(gd::vmap(huber)(gd::Tensor{0.5, -3.0})), "[0.125 2.5]");
  for (const int i : {0, 1, 7, -2})
    EXPECT_EQ(gd::function(one_of)(gd::Tensor(i), gd::Tensor(3.0)).item<double>(), i ? 9 : 3);
  const gd::Tensor nine(9.0);
  EXPECT_DOUBLE_EQ(root(nine).item<double>(), 3);
  EXPECT_EQ(shown(gd::vmap(root)(gd::Tensor{4.0, 9.0})), "[2. 3.]");
  // Branches of other sizes, and one that assigns.
  const gd::Variable count(gd::Tensor(0));
  const auto some = gd::function([&](const gd::Tensor& x) {
    const gd::Tensor positive = gd::reduce_sum(x) > 0;
    gd::cond(
        positive, [&] { count.assign_add(1); }, [] {});
    return gd::cond(
        positive,
        [&] {
          return gd::index(x, {gd::Slice{0, 1}});
        },
        [&] { return x; });
  });
  EXPECT_EQ(shown(some(gd::Tensor{1.0, 2.0})), "[1.]");
  EXPECT_EQ(shown(some(gd::Tensor{-1.0, -2.0})), "[-1. -2.]");
  EXPECT_EQ(some.trace_count(), 1);
  EXPECT_EQ(count.value().item<int>(), 1);
  EXPECT_DOUBLE_EQ(gd::function(root)(nine).item<double>(), 3);
  EXPECT_NEAR(gd::grad(root)(nine).item<double>(), 1.0 / 6, 1e-12);
  EXPECT_NEAR(gd::function(gd::grad(gd::grad(root)))(nine).item<double>(), -1.0 / 108, 1e-9);
  for (const bool compile : {false, true}) {
    const gd::Tensor pushes = {1.0, 0.0, -3.0};
    const auto [places, speed] = compile ? gd::function(flight)(pushes) : flight(pushes);
    EXPECT_EQ(shown(places), "[1. 2. 0.]");
    EXPECT_EQ(speed.item<double>(), -2);
  }
  // The last place by each push.
  EXPECT_EQ(shown(gd::grad([](const gd::Tensor& p) { return gd::index(flight(p).first, {-1}); })(
                gd::Tensor{1.0, 0.0, -3.0})),
            "[3. 2. 1.]");
}

TEST(CppGuide, Derivatives) {
  // J is [[cos a, -r sin a], [sin a, r cos a]].
  const gd::Tensor p = {2.0, 0.0};
  EXPECT_EQ(shown(along(p, gd::Tensor{1.0, 1.0})), "[1. 2.]");
  EXPECT_EQ(shown(back(p, gd::Tensor{3.0, 5.0})), "[3. 10.]");
  // H of r (cos a + sin a) is [[0, 1], [1, -2]] there.
  EXPECT_EQ(shown(bent(p, gd::Tensor{1.0, 1.0})), "[1. -1.]");
  EXPECT_EQ(shown(change_of_a_loss(gd::Variable(gd::Tensor{1.0, 2.0}), gd::Tensor{1.0, 10.0})),
            "42.0");
  EXPECT_EQ(shown(jacobian_of_polar(p)), "[[1. 0.] [0. 2.]]");
  EXPECT_EQ(
      shown(second_derivatives(gd::Tensor{1.0, 2.0}, gd::Tensor{3.0, 4.0})),
      (Texts{"[[6. 0.] [0. 8.]]", "[[2. 0.] [0. 4.]]", "[[2. 0.] [0. 4.]]", "[[0. 0.] [0. 0.]]"}));
  const gd::Tensor w = {1.0, 2.0}, xs = {{1.0, 0.0}, {1.0, 1.0}, {0.0, 2.0}}, ys = {0.0, 2.0, 2.0};
  EXPECT_EQ(shown(errors(w, xs, ys)), "[1. 1. 4.]");
  EXPECT_EQ(shown(gradient_of_each(w, xs, ys)), "[[2. 0.] [2. 2.] [0. 8.]]");
}

TEST(CppGuide, RulesOfOnesOwn) {
  const gd::Tensor x = {1.0, 2.0}, k = {5.0, 0.5};
  EXPECT_EQ(shown(clipped(x)), "[1. 2.]");
  EXPECT_EQ(shown(gd::grad([&](const gd::Tensor& v) { return gd::reduce_sum(clipped(v) * k); })(x)),
            "[1. 0.5]");
  EXPECT_EQ(gd::jvp(gentle_sqrt, gd::Tensor(4.0), gd::Tensor(1.0)).second.item<double>(), 0.25);
  EXPECT_EQ(gd::grad(gentle_sqrt)(gd::Tensor(0.0)).item<double>(), 1);
  const gd::Variable scale(gd::Tensor(3.0));
  const auto reads = gd::custom_gradient([&](const gd::Tensor& v) {
    return std::pair(scale * v, [v](const gd::Tensor& dy, const std::vector<gd::Variable>& vars) {
      return std::pair(dy * vars.at(0), std::vector<gd::Tensor>{dy * v});
    });
  });
  const gd::Tensor at(5.0);
  gd::GradientTape tape;
  tape.watch(at);
  const auto [by_x, by_scale] = tape.gradient(reads(at), at, scale);
  EXPECT_EQ(by_x.tensor().item<double>(), 3);
  EXPECT_EQ(by_scale.tensor().item<double>(), 5);
  EXPECT_EQ(gd::grad(lean)(gd::Tensor(0.0)).item<double>(), 1);
  EXPECT_EQ(gd::grad(gd::grad(lean))(gd::Tensor(0.0)).item<double>(), 1);
}

TEST(CppGuide, Files) {
  const Folder folder;
  EXPECT_EQ(shown(kept_in_files(folder.path())), "[[11. 14.] [13. 16.]]");
  save_line(folder.path() + "/line.gradus");
  EXPECT_EQ(shown(load_line(folder.path() + "/line.gradus", gd::Tensor{5.0, 6.0, 7.0})),
            "[11. 13. 15.]");
  const gd::LoadedFunction line = gd::load_function(folder.path() + "/line.gradus");
  line.variables().at(0).assign(10.0);
  EXPECT_EQ(shown(line({gd::Tensor{1.0}})[0]), "[11.]");
  EXPECT_TRUE(line.takes({gd::Shape{7}}));
  EXPECT_FALSE(line.takes({gd::Shape{7, 2}}));
  EXPECT_THROW(gd::load_npy(folder.path() + "/none.npy"), gd::NotFoundError);
  const auto own = gd::function([](const gd::Tensor& x) { return clipped(x); });
  own(gd::Tensor(1.0));
  EXPECT_THROW(gd::save_function(folder.path() + "/own.gradus", own.saved()),
               gd::InvalidArgumentError);
}

TEST(CppGuide, ThreadsAndTime) {
  EXPECT_EQ(gradients_in_threads(), (std::vector<double>{0, 3, 12, 27}));
  const std::string table = where_the_time_goes();
  EXPECT_NE(table.find("exp (cpp_guide_test.cpp:"), std::string::npos) << table;
  EXPECT_NE(table.find("multiply, add, tanh, reduce_sum (cpp_guide_test.cpp:"), std::string::npos)
      << table;
  EXPECT_TRUE(fits(gd::ones({8, 8})));
  gd::request_interrupt();
  EXPECT_THROW(gd::reduce_sum(gd::ones({1000000})), gd::CancelledError);
  gd::clear_interrupt();
}

TEST(CppGuide, ErrorsAndEffects) {
  EXPECT_EQ(what_went_wrong().find("[matmul] inner sizes 3 and 2 differ: shapes (2, 3) and (2, 3)\n"
                                   "  at "),
            0U);
  EXPECT_NE(what_went_wrong().find("cpp_guide_test.cpp:"), std::string::npos);
  const gd::Tensor x = {1.0, 2.0};
  EXPECT_THROW(x + gd::Tensor({1.0f, 2.0f}), gd::InvalidArgumentError);
  EXPECT_THROW(gd::Tensor{1} * 2.5, gd::InvalidArgumentError);
  EXPECT_EQ((gd::Tensor{1.0f} * 2.5).dtype(), gd::float32);
  EXPECT_THROW(gd::function([](const gd::Tensor& v) { return v * v.item<double>(); })(x),
               gd::Error);
  EXPECT_THROW(gd::vmap([](const gd::Tensor& v) { return v * v.item<double>(); })(x), gd::Error);
  gd::GradientTape tape;
  tape.watch(x);
  const gd::Tensor y = x * x;
  EXPECT_EQ(shown(tape.gradient(y, x)), "[2. 4.]");
  EXPECT_THROW(tape.gradient(y, x), gd::UsageError);
  const gd::Profile profile;
  EXPECT_THROW(gd::Profile(), gd::FailedPreconditionError);
  gd::Tensor kept;
  gd::function([&](const gd::Tensor& v) { return kept = v * 2; })(x);
  EXPECT_THROW(kept + 1, gd::Error);
  const std::string once = watched.trace_count() == 0 ? "traced\n" : "";  // tests may be repeated
  testing::internal::CaptureStdout();
  for (int i = 0; i < 2; ++i) watched(gd::Tensor(i));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), once + "called with 0\ncalled with 1\n");
}

}  // namespace
