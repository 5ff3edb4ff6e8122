// Random programs whose sizes the data decide: a plain interpreter, eager ops and a compiled
// function agree, with first and second derivatives; and random C++ functions that look at sizes
// are never given a program of other sizes. GRADUS_RANDOM_SIZES=n makes n programs of each kind
// instead of 200 (60 under sanitizers).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "gradus/gradus.h"
#include "unit/sized_programs_util.h"

namespace gradus::sized {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned kPrograms = 60;
#else
constexpr unsigned kPrograms = 200;
#endif

unsigned program_count() {
  const char* count = std::getenv("GRADUS_RANDOM_SIZES");
  return count ? static_cast<unsigned>(std::atoi(count)) : kPrograms;
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  double number() { return static_cast<double>(random_() % 100000) * 0.00003 - 1.5; }

 private:
  std::mt19937 random_;
};

// A point at which derivatives do not exist, or where doubles could not tell.
struct Unclear {};
bool above(const Series& v, long double c) {
  if (std::abs(v.value() - c) < 1e-6L) throw Unclear();
  return v.value() > c;
}
int64_t count_above(const Rows& rows, long double c) {
  return std::count_if(rows.begin(), rows.end(), [&](const Series& v) { return above(v, c); });
}
int64_t size_of(const Rows& rows) { return static_cast<int64_t>(rows.size()); }
// Elements that are copies of each other are the same; others must not be near.
bool is_copy(const Series& a, const Series& b) {
  if (a == b) return true;
  if (std::abs(a.value() - b.value()) < 1e-6L) throw Unclear();
  return false;
}

Tensor counted(const Tensor& b, double c) { return count_nonzero(b > c); }

// One kind of step: it makes a vector of two others and a number.
struct Kind {
  const char* name;
  int64_t (*most)(int64_t a, int64_t b);  // elements
  Tensor (*f)(const Tensor& a, const Tensor& b, double c);
  Rows (*plain)(const Rows& a, const Rows& b, long double c);
  bool asks = false;  // something about sizes that are found: a program for each answer
};
int64_t as_many(int64_t a, int64_t) { return a; }
int64_t both(int64_t a, int64_t b) { return a + b; }
int64_t product(int64_t a, int64_t b) { return a * b; }

const Kind kKinds[] = {
    // Elements.
    {"sin", as_many, [](Given a, Given, double c) { return sin(a * 0.7 + c); },
     [](const Rows& a, const Rows&, long double c) {
       return map_of(a, [&](const Series& v) { return sin(v * static_cast<double>(0.7) + c); });
     }},
    {"tanh", as_many, [](Given a, Given, double c) { return tanh(a) * c + a * 0.25; },
     [](const Rows& a, const Rows&, long double c) {
       return map_of(a, [&](const Series& v) { return tanh(v) * c + v * 0.25L; });
     }},
    {"either", as_many, [](Given a, Given, double c) { return where(a > c, a * 0.5, sin(a)); },
     [](const Rows& a, const Rows&, long double c) {
       return map_of(a, [&](const Series& v) { return above(v, c) ? v * 0.5L : sin(v); });
     }},
    {"zip", as_many,
     [](Given a, Given b, double) {
       const Size n = to_size(minimum(length(a), length(b)));
       return slice(a, {0}, {n}) * cos(slice(b, {0}, {n}));
     },
     [](const Rows& a, const Rows& b, long double) {
       Rows out;
       for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
         out.push_back(a[i] * cos(b[i]));
       return out;
     }},
    {"zip of two slices", as_many,
     [](Given a, Given b, double) {
       return slice_between(a, {}, length(b), {}) + sin(slice_between(b, {}, length(a), {}));
     },
     [](const Rows& a, const Rows& b, long double) {
       Rows out;
       for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
         out.push_back(a[i] + sin(b[i]));
       return out;
     },
     true},
    // Reductions.
    {"sum", as_many,
     [](Given a, Given b, double c) { return a * 0.5 + reduce_sum(sin(b)) * (c * 0.25); },
     [](const Rows& a, const Rows& b, long double c) {
       const Series sum = sum_of(map_of(b, [](const Series& v) { return sin(v); }));
       return map_of(a, [&](const Series& v) { return v * 0.5L + sum * (c * 0.25L); });
     }},
    {"mean", as_many,
     [](Given a, Given, double) { return a - reduce_sum(a) / doubles(maximum(length(a), 1)); },
     [](const Rows& a, const Rows&, long double) {
       const Series mean =
           sum_of(a) / Series(static_cast<long double>(std::max<std::size_t>(a.size(), 1)));
       return map_of(a, [&](const Series& v) { return v - mean; });
     }},
    {"a sum as a row", [](int64_t, int64_t) { return int64_t{1}; },
     [](Given a, Given, double c) { return one_row(tanh(reduce_sum(a * a) * 0.1 + c)); },
     [](const Rows& a, const Rows&, long double c) {
       return Rows{tanh(sum_of(map_of(a, taylor::square)) * static_cast<double>(0.1) + c)};
     }},
    {"the largest", [](int64_t a, int64_t) { return a + 1; },
     [](Given a, Given b, double c) {
       const Tensor bound = fill({1}, Tensor(c));
       return concat({a * 0.5, reduce_max(concat({b, bound}, 0), {0}, true)}, 0);
     },
     [](const Rows& a, const Rows& b, long double c) {
       Series most(c);
       for (const Series& v : b)
         if (!is_copy(v, most) && v.value() > most.value()) most = v;
       return joined(scaled(a, 0.5L), {most});
     }},
    {"softmax", as_many, [](Given a, Given, double) { return nn::softmax(a); },
     [](const Rows& a, const Rows&, long double) { return softmax_of(a); }},
    {"cumsum", as_many, [](Given a, Given, double) { return cumsum(sin(a)) * 0.3; },
     [](const Rows& a, const Rows&, long double) {
       Series sum;
       return map_of(a,
                     [&](const Series& v) { return (sum += sin(v)) * static_cast<double>(0.3); });
     }},
    {"cumprod", as_many, [](Given a, Given, double) { return cumprod(tanh(a), 0, true); },
     [](const Rows& a, const Rows&, long double) {
       Series so_far(1);
       return map_of(a, [&](const Series& v) {
         const Series before = so_far;
         so_far *= tanh(v);
         return before;
       });
     }},
    // Elements that are chosen.
    {"boolean_mask", as_many, [](Given a, Given, double c) { return boolean_mask(a, a > c); },
     [](const Rows& a, const Rows&, long double c) {
       return kept(a, [&](const Series& v) { return above(v, c); });
     }},
    {"gather where", as_many,
     [](Given a, Given, double c) { return gather(a, reshape(where(a < c), {-1})) * 1.25; },
     [](const Rows& a, const Rows&, long double c) {
       return scaled(kept(a, [&](const Series& v) { return !above(v, c); }), 1.25L);
     }},
    {"a mask of two axes", product,
     [](Given a, Given b, double c) {
       const Tensor table = column(a) - expand_dims(b, 0) * 0.5;
       return boolean_mask(table, table > c);
     },
     [](const Rows& a, const Rows& b, long double c) {
       Rows out;
       for (const Series& u : a)
         for (const Series& v : b)
           if (above(u - v * 0.5L, c)) out.push_back(u - v * 0.5L);
       return out;
     }},
    {"unique", as_many, [](Given a, Given, double) { return unique(a).y; },
     [](const Rows& a, const Rows&, long double) {
       Rows out;
       for (const Series& v : a)
         if (std::none_of(out.begin(), out.end(), [&](const Series& w) { return is_copy(v, w); }))
           out.push_back(v);
       return out;
     }},
    {"sums of equal signs", [](int64_t, int64_t) { return int64_t{2}; },
     [](Given a, Given, double c) {
       const Unique u = unique(cast(a > c, int32));
       return unsorted_segment_sum(sin(a), u.idx, u.y.shape()[0]);
     },
     [](const Rows& a, const Rows&, long double c) {
       Rows out;
       for (const Series& v : a) {
         const bool first = above(v, c) == above(a[0], c);
         if (out.size() < (first ? 1 : 2)) out.emplace_back(0);
         out[first ? 0 : 1] += sin(v);
       }
       return out;
     },
     true},
    {"sort", as_many, [](Given a, Given, double) { return sort(a); },
     [](const Rows& a, const Rows&, long double) {
       Rows out = a;
       std::sort(out.begin(), out.end(),
                 [](const Series& u, const Series& v) { return u.value() < v.value(); });
       for (std::size_t i = 1; i < out.size(); ++i) is_copy(out[i - 1], out[i]);
       return out;
     }},
    {"top_k", as_many,
     [](Given a, Given b, double c) {
       return top_k(a, to_size(minimum(counted(b, c), length(a)))).values;
     },
     [](const Rows& a, const Rows& b, long double c) {
       Rows out = a;
       std::sort(out.begin(), out.end(), is_above);
       for (std::size_t i = 1; i < out.size(); ++i) is_copy(out[i - 1], out[i]);
       return part(out, 0, count_above(b, c));
     },
     true},
    // Slices.
    {"a[:n]", as_many,
     [](Given a, Given b, double c) { return slice_between(a, {}, counted(b, c), {}); },
     [](const Rows& a, const Rows& b, long double c) { return part(a, 0, count_above(b, c)); }},
    {"a[n:]", as_many,
     [](Given a, Given b, double c) { return index(a, {Slice{.begin = to_size(counted(b, c))}}); },
     [](const Rows& a, const Rows& b, long double c) {
       return part(a, count_above(b, c), size_of(a));
     },
     true},
    {"a[::-1][:n]", as_many,
     [](Given a, Given b, double c) {
       return slice_between(reverse(a, {0}), {}, counted(b, c), {});
     },
     [](const Rows& a, const Rows& b, long double c) {
       return part(Rows(a.rbegin(), a.rend()), 0, count_above(b, c));
     }},
    {"a[1:]", as_many, [](Given a, Given, double) { return index(a, {Slice{.begin = 1}}); },
     [](const Rows& a, const Rows&, long double) { return part(a, 1, size_of(a)); }, true},
    {"split", as_many,
     [](Given a, Given b, double c) {
       const Size n = to_size(minimum(counted(b, c), length(a)));
       const std::vector<Tensor> parts = split(a, std::vector<Size>{n, -1});
       return concat({parts[1], parts[0] * 0.5}, 0);
     },
     [](const Rows& a, const Rows& b, long double c) {
       const int64_t n = count_above(b, c);
       return joined(part(a, n, size_of(a)), scaled(part(a, 0, n), 0.5L));
     }},
    // Longer ones.
    {"concat", both,
     [](Given a, Given b, double) {
       return concat({a, b}, 0);
     },
     [](const Rows& a, const Rows& b, long double) { return joined(a, b); }},
    {"pad", both,
     [](Given a, Given b, double c) {
       return pad(a, {{to_size(counted(b, c)), 0}}, PadMode::constant, c);
     },
     [](const Rows& a, const Rows& b, long double c) {
       return joined(Rows(at(count_above(b, c)), Series(c)), a);
     }},
    {"range", [](int64_t, int64_t b) { return b; },
     [](Given a, Given b, double c) {
       return doubles(range(counted(b, c))) * 0.25 + reduce_sum(sin(a)) * 0.25;
     },
     [](const Rows& a, const Rows& b, long double c) {
       const Series sum = sum_of(map_of(a, [](const Series& v) { return sin(v); }));
       Rows out;
       for (int64_t i = 0; i < count_above(b, c); ++i)
         out.push_back((sum + static_cast<long double>(i)) * 0.25L);
       return out;
     }},
    {"repeat", product,
     [](Given a, Given b, double c) { return repeat(a, to_size(counted(b, c)), 0); },
     [](const Rows& a, const Rows& b, long double c) {
       Rows out;
       for (const Series& v : a) out.insert(out.end(), at(count_above(b, c)), v);
       return out;
     }},
    {"repeat by counts", [](int64_t a, int64_t) { return 2 * a; },
     [](Given a, Given, double c) {
       return repeat_each(a, cast(a > c, int64) + cast(a > c + 1, int64), 0);
     },
     [](const Rows& a, const Rows&, long double c) {
       Rows out;
       for (const Series& v : a)
         out.insert(out.end(), (above(v, c) ? 1u : 0u) + (above(v, c + 1) ? 1u : 0u), v);
       return out;
     }},
    {"tile", product, [](Given a, Given b, double c) { return tile(a, {to_size(counted(b, c))}); },
     [](const Rows& a, const Rows& b, long double c) {
       Rows out;
       for (int64_t i = 0; i < count_above(b, c); ++i) out = joined(out, a);
       return out;
     }},
    // Tables.
    {"reshape(-1)", product,
     [](Given a, Given b, double) { return reshape(column(sin(a)) * expand_dims(b, 0), {-1}); },
     [](const Rows& a, const Rows& b, long double) {
       Rows out;
       for (const Series& u : a)
         for (const Series& v : b) out.push_back(sin(u) * v);
       return out;
     }},
    {"columns one behind the other", [](int64_t a, int64_t) { return 2 * a; },
     [](Given a, Given, double) {
       return reshape(transpose(stack({a, sin(a)}, 1)), {-1});
     },
     [](const Rows& a, const Rows&, long double) {
       return joined(a, map_of(a, [](const Series& v) { return sin(v); }));
     }},
    {"pairs", as_many,
     [](Given a, Given, double) {
       const Size pairs = a.shape()[0] / 2;
       return reduce_prod(reshape(slice(a, {0}, {pairs * 2}), {-1, 2}), {1});
     },
     [](const Rows& a, const Rows&, long double) {
       Rows out;
       for (std::size_t i = 0; i + 1 < a.size(); i += 2) out.push_back(a[i] * a[i + 1]);
       return out;
     }},
    {"matmul", as_many,
     [](Given a, Given b, double) {
       const Tensor table = sin(column(a) + expand_dims(b, 0));
       return reshape(matmul(table, column(b)), {-1}) * 0.25;
     },
     [](const Rows& a, const Rows& b, long double) {
       return map_of(a, [&](const Series& u) {
         Series sum;
         for (const Series& v : b) sum += sin(u + v) * v;
         return sum * 0.25L;
       });
     }},
    // Other places.
    {"scatter", both,
     [](Given a, Given b, double c) {
       const Tensor places = where(b > c);
       const Tensor updates = gather_nd(b, places);
       return scatter_nd(places, updates * 0.5, {b.shape()[0] + 1}) + reduce_sum(sin(a)) * 0.1;
     },
     [](const Rows& a, const Rows& b, long double c) {
       const Series sum = sum_of(map_of(a, [](const Series& v) { return sin(v); }));
       Rows out = map_of(b, [&](const Series& v) { return above(v, c) ? v * 0.5L : Series(0); });
       out.emplace_back(0);
       return map_of(out, [&](const Series& v) { return v + sum * static_cast<double>(0.1); });
     }},
    {"partition and stitch", as_many,
     [](Given a, Given, double c) {
       const Tensor up = where(a > c), down = where(a <= c);
       const Tensor some = tensor_scatter_nd_update(a, up, sin(gather_nd(a, up)));
       return tensor_scatter_nd_update(some, down, gather_nd(a, down) * 0.5);
     },
     [](const Rows& a, const Rows&, long double c) {
       return map_of(a, [&](const Series& v) { return above(v, c) ? sin(v) : v * 0.5L; });
     }},
    {"roll", as_many, [](Given a, Given b, double c) { return roll_by(a, counted(b, c), 0); },
     [](const Rows& a, const Rows& b, long double c) {
       Rows out = a;
       for (int64_t i = 0; i < count_above(b, c) && !a.empty(); ++i)
         std::rotate(out.rbegin(), out.rbegin() + 1, out.rend());
       return out;
     }},
    {"one_hot", [](int64_t, int64_t b) { return b + 2; },
     [](Given a, Given b, double c) {
       const Tensor table =
           one_hot(cast(a > c, int64), to_size(counted(b, c) + 2), Tensor(1.0), Tensor(0.0));
       return reduce_sum(table * column(sin(a)), {0}) * 0.5;
     },
     [](const Rows& a, const Rows& b, long double c) {
       Rows out(at(count_above(b, c) + 2));
       for (const Series& v : a) out[above(v, c) ? 1 : 0] += sin(v) * 0.5L;
       return out;
     }},
    {"sequence_mask", product,
     [](Given a, Given b, double c) {
       const Tensor inside = sequence_mask(cast(a > c, int64) * counted(b, c), -1, float64);
       return reshape(inside * column(a), {-1});
     },
     [](const Rows& a, const Rows& b, long double c) {
       const bool any = count_above(a, c) > 0;
       Rows out;
       for (const Series& v : a)
         for (int64_t j = 0; any && j < count_above(b, c); ++j)
           out.push_back(above(v, c) ? v : Series(0));
       return out;
     }},
    {"bincount", [](int64_t, int64_t) { return int64_t{2}; },
     [](Given a, Given, double c) { return bincount(cast(a > c, int64), {.weights = sin(a)}); },
     [](const Rows& a, const Rows&, long double c) {
       Rows out(a.empty() ? 0 : count_above(a, c) > 0 ? 2 : 1);
       for (const Series& v : a) out[above(v, c) ? 1 : 0] += sin(v);
       return out;
     },
     true},
};
constexpr int kKindCount = static_cast<int>(std::size(kKinds));

// A step of a program: one of the kinds, or a branch or loop around programs of their own, which
// begin with the two vectors.
struct RandomProgram;
struct Step {
  enum Flow { plain, branch, loop } flow = plain;
  int kind = 0, a = 0, b = 0;
  double c = 0;
  std::vector<std::shared_ptr<RandomProgram>> inner = {};
};

constexpr int64_t kMostElements = 48;
constexpr int kDepth = 2;  // of branches and loops in each other

struct RandomProgram {
  std::vector<Step> steps;
  int64_t most = 0;  // elements of the result

  // `sizes` are the most that the vectors at the beginning can have.
  RandomProgram(Draw& draw, std::vector<int64_t> sizes, int length, int depth) {
    for (int i = 0; i < length; ++i) {
      Step step = any_step(draw, sizes, depth);
      sizes.push_back(most_of(step, sizes));
      steps.push_back(std::move(step));
    }
    most = sizes.back();
  }

  // The vectors that were made are there for later steps; the last one is the result.
  Tensor operator()(std::vector<Tensor> pool) const {
    for (const Step& step : steps) pool.push_back(run(step, pool[at(step.a)], pool[at(step.b)]));
    return pool.back();
  }
  Rows operator()(std::vector<Rows> pool) const {
    for (const Step& step : steps) pool.push_back(run(step, pool[at(step.a)], pool[at(step.b)]));
    return pool.back();
  }

  bool asks() const {
    return std::ranges::any_of(steps, [](const Step& s) {
      return (s.flow == Step::plain && kKinds[s.kind].asks) ||
             std::ranges::any_of(s.inner, [](const auto& inner) { return inner->asks(); });
    });
  }
  std::string text() const {
    std::ostringstream out;
    for (const Step& s : steps) {
      out << (s.flow == Step::branch ? "branch"
              : s.flow == Step::loop ? "loop"
                                     : kKinds[s.kind].name)
          << "(" << s.a << ", " << s.b << ", " << s.c << ")";
      for (const auto& inner : s.inner) out << " { " << inner->text() << "}";
      out << "; ";
    }
    return out.str();
  }

 private:
  static Step any_step(Draw& draw, const std::vector<int64_t>& sizes, int depth) {
    for (;;) {
      const auto known = static_cast<int>(sizes.size());
      // The newest vector more often than others.
      const auto pick = [&] { return draw.below(3) ? known - 1 : draw.below(known); };
      Step step{Step::plain, draw.below(kKindCount), pick(), pick(), draw.number() * 0.6};
      const int flow = depth > 0 ? draw.below(8) : 7;
      if (flow < 2) {
        step.flow = flow == 0 ? Step::branch : Step::loop;
        for (int i = 0; i < (flow == 0 ? 2 : 1); ++i)
          step.inner.push_back(std::make_shared<RandomProgram>(
              draw, std::vector<int64_t>{sizes[at(step.a)], sizes[at(step.b)]}, 1 + draw.below(3),
              depth - 1));
      }
      if (most_of(step, sizes) <= kMostElements) return step;
    }
  }
  static int64_t most_of(const Step& step, const std::vector<int64_t>& sizes) {
    const int64_t a = sizes[at(step.a)], b = sizes[at(step.b)];
    if (step.flow == Step::plain) return kKinds[step.kind].most(a, b);
    if (step.flow == Step::branch) return std::max(step.inner[0]->most, step.inner[1]->most);
    return most_after(*step.inner[0], most_after(*step.inner[0], a, b), b);
  }
  static int64_t most_after(const RandomProgram& body, int64_t y, int64_t b) {
    std::vector<int64_t> sizes = {y, b};
    for (const Step& step : body.steps) sizes.push_back(most_of(step, sizes));
    return std::max(sizes.back(), y);  // no turn at all
  }

  static Tensor run(const Step& step, const Tensor& a, const Tensor& b) {
    if (step.flow == Step::plain) return kKinds[step.kind].f(a, b, step.c);
    if (step.flow == Step::branch)
      return cond(
          reduce_sum(b) > step.c,
          [&] {
            return (*step.inner[0])({a, b});
          },
          [&] {
            return (*step.inner[1])({a, b});
          });
    const Tensor turns = minimum(counted(b, step.c), 2);
    return std::get<1>(while_loop([&](Tensor i, Tensor) { return i < turns; },
                                  [&](Tensor i, Tensor y) {
                                    return std::tuple(i + 1, (*step.inner[0])({y, b}));
                                  },
                                  std::tuple(whole(0), a)));
  }
  static Rows run(const Step& step, const Rows& a, const Rows& b) {
    if (step.flow == Step::plain) return kKinds[step.kind].plain(a, b, step.c);
    if (step.flow == Step::branch) return (*step.inner[above(sum_of(b), step.c) ? 0 : 1])({a, b});
    Rows y = a;
    for (int64_t i = 0; i < std::min<int64_t>(count_above(b, step.c), 2); ++i)
      y = (*step.inner[0])({y, b});
    return y;
  }
};

struct Sample {
  std::vector<double> x, z, v;  // v: a direction for x
};
Sample any_sample(Draw& draw, int n, int m) {
  Sample s;
  for (int i = 0; i < n; ++i) s.x.push_back(draw.number());
  for (int i = 0; i < m; ++i) s.z.push_back(draw.number());
  for (int i = 0; i < n; ++i) s.v.push_back(draw.number());
  return s;
}

// What the interpreter says: the result, and derivatives of its total along the direction.
struct Answer {
  std::vector<double> values;
  double first, second;
};
Answer interpreted(const RandomProgram& program, const Sample& s) {
  Rows x, z;
  for (std::size_t i = 0; i < s.x.size(); ++i) x.emplace_back(s.x[i], s.v[i]);
  for (const double v : s.z) z.emplace_back(v);
  const Rows y = program({x, z});
  const Series sum = total(Array(y));
  Answer answer{{}, static_cast<double>(sum.derivative(1)), static_cast<double>(sum.derivative(2))};
  for (const Series& v : y) answer.values.push_back(static_cast<double>(v.value()));
  for (const Series& v : y)
    for (std::size_t k = 0; k < 3; ++k)
      if (std::abs(v[k]) > 1e4L) throw Unclear();
  return answer;
}

testing::AssertionResult near(double got, double want, double tolerance) {
  if (std::abs(got - want) <= tolerance * (1 + std::abs(want))) return testing::AssertionSuccess();
  return testing::AssertionFailure() << got << ", expected " << want;
}
testing::AssertionResult near(const Tensor& got, const std::vector<double>& want,
                              double tolerance) {
  if (to_string(got.shape()) != to_string(Shape{static_cast<int64_t>(want.size())}))
    return testing::AssertionFailure() << got.shape() << ", expected " << want.size();
  for (std::size_t i = 0; i < want.size(); ++i)
    if (const auto same = near(got.data<double>()[i], want[i], tolerance); !same)
      return testing::AssertionFailure() << "element " << i << ": " << same.message();
  return testing::AssertionSuccess();
}
double along(const Tensor& gradient, const std::vector<double>& v) {
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) sum += gradient.data<double>()[i] * v[i];
  return sum;
}

// Value, gradient and Hessian along a direction, each as a function of x, z and v.
struct Functions {
  using F = std::function<Tensor(const Tensor& x, const Tensor& z, const Tensor& v)>;
  F value, first, second;

  explicit Functions(F f) : value(std::move(f)) {
    first = [value = value](Given x, Given z, Given v) {
      return grad([&](const Tensor& at) { return total(value(at, z, v)); })(x);
    };
    second = [value = value](Given x, Given z, Given v) {
      return hvp([&](const Tensor& at) { return total(value(at, z, v)); }, x, v);
    };
  }
};

// What a program does that was saved after it was called with these arguments.
template <class F>
Tensor saved_and_run(const F& f, const std::vector<Tensor>& arguments) {
  return LoadedFunction(f.saved())(arguments)[0];
}

// Programs that ask nothing are traced with known sizes, with one that differs, and with all that
// do.
constexpr int kMostTraces = 3;

struct Counts {
  int calls = 0, unclear = 0, traces = 0;
};

// False if something was wrong.
bool agrees(unsigned seed, Counts& counts) {
  Draw draw(seed);
  const RandomProgram program(draw, {8, 4}, 4 + draw.below(7), kDepth);
  int runs = 0;
  const Functions eager([&](Given x, Given z, Given) { return program({x, z}); });
  const Functions traced([&](Given x, Given z, Given) {
    ++runs;
    return program({x, z});
  });
  const auto value = function(traced.value), first = function(traced.first),
             second = function(traced.second);
  const Functions around(value);  // derivatives of what is compiled
  std::vector<std::pair<int, int>> sizes = {{6, 3}, {5, 2}, {0, 1}, {1, 0}, {8, 4}, {1, 1}, {0, 0}};
  std::shuffle(sizes.begin(), sizes.end(), std::mt19937(seed));
  for (const auto& [n, m] : sizes) {
    const Sample s = any_sample(draw, n, m);
    Answer want;
    try {
      want = interpreted(program, s);
    } catch (const Unclear&) {
      ++counts.unclear;
      continue;
    }
    ++counts.calls;
    const Tensor x = Tensor::from(s.x), z = Tensor::from(s.z), v = Tensor::from(s.v);
    const auto expect = [&, n = n, m = m](const char* what,
                                          const testing::AssertionResult& result) {
      if (!result)
        ADD_FAILURE() << what << ", seed " << seed << ", sizes " << n << " and " << m << ": "
                      << result.message() << "\n"
                      << program.text();
      return static_cast<bool>(result);
    };
    try {
      const Tensor y = eager.value(x, z, v), g = eager.first(x, z, v), h = eager.second(x, z, v);
      if (!expect("eager", near(y, want.values, 1e-10)) ||
          !expect("eager gradient", near(along(g, s.v), want.first, 1e-9)) ||
          !expect("eager Hessian", near(along(h, s.v), want.second, 1e-8)) ||
          !expect("compiled", near(value(x, z, v), y.to_vector<double>(), 1e-12)) ||
          !expect("compiled gradient", near(first(x, z, v), g.to_vector<double>(), 1e-12)) ||
          !expect("gradient around", near(around.first(x, z, v), g.to_vector<double>(), 1e-11)) ||
          !expect("Hessian around", near(around.second(x, z, v), h.to_vector<double>(), 1e-11)) ||
          !expect("compiled Hessian", near(second(x, z, v), h.to_vector<double>(), 1e-11)))
        return false;
      // Not of programs that ask: what is saved serves the sizes that give the same answers.
      if (!program.asks() &&
          !expect("saved", near(saved_and_run(value, {x, z, v}), y.to_vector<double>(), 1e-12)))
        return false;
    } catch (const Error& e) {
      return expect("error", testing::AssertionFailure() << e.what());
    }
  }
  counts.traces += value.trace_count();
  if (!program.asks()) {
    EXPECT_LE(value.trace_count(), kMostTraces) << program.text() << value.explain();
    EXPECT_LE(first.trace_count(), kMostTraces) << program.text() << first.explain();
    EXPECT_LE(second.trace_count(), kMostTraces) << program.text() << second.explain();
  }
  // C++ runs while it is traced, and only then; bodies that ask may be traced more than once.
  const int traces = value.trace_count() + first.trace_count() + second.trace_count();
  EXPECT_TRUE(program.asks() ? runs >= traces : runs == traces) << seed;
  return true;
}

TEST(RandomSizes, ProgramsAgreeWithPlainLoops) {
  Counts counts;
  int wrong = 0;
  for (unsigned seed = 0; seed < program_count() && wrong < 5; ++seed)
    if (!agrees(seed, counts)) ++wrong;
  EXPECT_LT(10 * counts.unclear, counts.calls);  // else nothing would be shown
  EXPECT_LT(2 * counts.traces, counts.calls);
}

// --- C++ functions that look at sizes ---

// A step that decides by a size in C++, in one of many ways. The number itself is asked of sizes
// of arguments only: those that are found are not known while a function is traced.
Tensor by_size(Draw& draw, const Tensor& y, Size size, Size of_argument) {
  const int a = 1 + draw.below(6), b = draw.below(4);
  const double c = draw.number();
  switch (draw.below(12)) {
    case 0:
      return size > a ? sin(y) : y * c;
    case 1:
      return size % a == b ? y + c : tanh(y);
    case 2: {
      Tensor sum = y;
      for (std::int64_t i = 0; i < size && i < 6; ++i) sum = sum * 0.9 + c / (1.0 + double(i));
      return sum;
    }
    case 3: {
      std::vector<double> more(static_cast<std::size_t>(std::int64_t{of_argument}) % 7);
      for (std::size_t i = 0; i < more.size(); ++i) more[i] = std::cos(double(i) * c);
      return concat({y, Tensor::from(more)}, 0);
    }
    case 4:
      return y * std::sqrt(static_cast<double>(std::int64_t{of_argument}));
    case 5: {
      int halvings = 0;
      for (Size rest = size; rest > 1; rest /= 2) ++halvings;
      return y + 0.25 * halvings;
    }
    case 6:
      return y * c + size;  // stays a size
    case 7:
      return concat({y, ones({size % 3 + b}, float64) * c}, 0);
    case 8:
      return size == y.shape()[0] ? y * y * 0.25 : y - c;
    case 9: {
      const Size least = std::min(size, y.shape()[0]);
      return concat({slice(y, {0}, {least}) * c, y}, 0);
    }
    case 10:
      return y.shape()[0] % 2 == 0 ? reduce_sum(reshape(y, {-1, 2}), {1}) : y + reduce_sum(y) * 0.1;
    default:
      switch (std::int64_t{of_argument % 3}) {
        case 0:
          return sin(y) * c;
        case 1:
          return reverse(y, {0});
        default:
          return y * 0.5;
      }
  }
}

// Sizes of arguments, sizes that are found, and arithmetic of both. Steps inside of branches and
// loops look at the sizes of arguments only.
Tensor looks_at_sizes(unsigned seed, const Tensor& x, const Tensor& z) {
  Draw draw(seed);
  Tensor y = x * 1.25;
  for (int step = 0; step < 5; ++step) {
    const Size n = x.shape()[0], m = z.shape()[0];
    const double c = draw.number() * 0.5;
    const int which = draw.below(7);
    const Size size = which == 0   ? n
                      : which == 1 ? m
                      : which == 2 ? n + 2 * m
                      : which == 3 ? n * m
                      : which == 4 ? to_size(count_nonzero(y > c))
                      : which == 5 ? to_size(count_nonzero(z > c)) + n
                                   : boolean_mask(y, y > c).shape()[0];
    const Size given = which % 2 == 0 ? n : m + n;
    const int flow = draw.below(6);
    const unsigned inner = static_cast<unsigned>(draw.below(1 << 20));
    const auto same_shape = [&, given](const Tensor& t, unsigned s) {
      const double factor = given > static_cast<int>(s % 5) ? 0.5 : 1.25;
      return given % 2 == static_cast<int>(s % 2) ? t * factor : sin(t) + factor;
    };
    if (flow == 0) {
      y = cond(
          reduce_sum(y) > c, [&] { return same_shape(y, inner); },
          [&] { return same_shape(y, inner + 1); });
    } else if (flow == 1) {
      const Tensor turns = count_nonzero(z > c);
      y = std::get<1>(
          while_loop([&](Tensor i, Tensor) { return i < turns; },
                     [&](Tensor i, Tensor t) { return std::tuple(i + 1, same_shape(t, inner)); },
                     std::tuple(whole(0), y)));
    } else {
      y = by_size(draw, y, size, given);
    }
  }
  return y;
}

TEST(RandomSizes, FunctionsThatLookAtSizesGetTheirOwnPrograms) {
  for (unsigned seed = 0; seed < program_count() && !testing::Test::HasFailure(); ++seed) {
    const auto f = [&](Given x, Given z) { return looks_at_sizes(seed, x, z); };
    const auto slope = [&](Given x, Given z) {
      return grad([&](const Tensor& at) { return total(f(at, z)); })(x);
    };
    const auto value = function(f);
    const auto gradient = function(slope);
    Draw draw(seed + 5000);
    std::vector<Sample> samples;
    for (int call = 0; call < 8; ++call)
      samples.push_back(any_sample(draw, draw.below(9), draw.below(6)));
    const auto expect_all = [&] {
      for (const Sample& s : samples) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", sizes " + std::to_string(s.x.size()) +
                     " and " + std::to_string(s.z.size()));
        const Tensor x = Tensor::from(s.x), z = Tensor::from(s.z);
        EXPECT_TRUE(near(value(x, z), f(x, z).to_vector<double>(), 1e-12)) << value.explain();
        EXPECT_TRUE(near(gradient(x, z), slope(x, z).to_vector<double>(), 1e-12))
            << gradient.explain();
      }
    };
    expect_all();
    // Each of these calls has its program now.
    const int traces = value.trace_count(), more = gradient.trace_count();
    expect_all();
    EXPECT_EQ(value.trace_count(), traces) << "seed " << seed << value.explain();
    EXPECT_EQ(gradient.trace_count(), more) << "seed " << seed << gradient.explain();
  }
}

}  // namespace
}  // namespace gradus::sized
