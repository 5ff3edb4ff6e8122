// What people write with sizes that the data decide, as a whole: each program against plain loops
// over vectors (unit/sized_programs_util.h).
#include <algorithm>
#include <tuple>

#include "unit/sized_programs_util.h"

namespace gradus::sized {
namespace {

TEST(FoundSizeExamples, WholePrograms) {
  // The most probable elements that together have a probability of 0.7, as probabilities.
  expect_program({"top-p sampling",
                  [](Given x, Given, Given) {
                    const Tensor order = argsort(x, -1, Direction::descending);
                    const Tensor sorted = nn::softmax(gather(x, order));
                    const Tensor some =
                        boolean_mask(sorted, cumsum(sorted, 0, /*exclusive=*/true) < 0.7);
                    return some / reduce_sum(some);
                  },
                  [](const Plain& p) {
                    Rows sorted = p.x;
                    std::sort(sorted.begin(), sorted.end(), is_above);
                    long double before = 0;
                    Rows some;
                    for (const Series& v : softmax_of(sorted)) {
                      if (before < 0.7L) some.push_back(v);
                      before += v.value();
                    }
                    const Series sum = sum_of(some);
                    return map_of(some, [&](const Series& v) { return v / sum; });
                  }});
  // Each element looks at as many of the first ones as its length says.
  expect_program({"attention of variable lengths",
                  [](Given x, Given k, Given) {
                    const Tensor lengths = minimum(k + 1, dynamic_size(x.shape()[0]));
                    const Tensor inside = sequence_mask(lengths);
                    const Tensor keys =
                        expand_dims(slice_between(x, {}, length(transpose(inside)), {}), 0);
                    const Tensor scores = where(inside, column(x) * keys, -1e30);
                    return reduce_sum(nn::softmax(scores) * sin(keys), {1});
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (std::size_t i = 0; i < p.x.size(); ++i) {
                      const Rows keys = part(p.x, 0, p.k[i] + 1);
                      const Rows weights = softmax_of(scaled(keys, p.x[i]));
                      Series sum;
                      for (std::size_t j = 0; j < keys.size(); ++j)
                        sum += weights[j] * sin(keys[j]);
                      out.push_back(sum);
                    }
                    return out;
                  }});
  // A line through the origin, fitted to the chosen points by gradients inside the program.
  expect_program({"training on selected rows",
                  [](Given x, Given k, Given) {
                    const Tensor chosen = k > 0;
                    const Tensor rows = boolean_mask(x, chosen),
                                 labels = boolean_mask(sin(x), chosen);
                    Tensor w = reduce_sum(x);
                    for (int step = 0; step < 3; ++step)
                      w = w - 0.05 * grad([&](const Tensor& at) {
                                return reduce_sum(square(rows * at - labels));
                              })(w);
                    return w;
                  },
                  [](const Plain& p) {
                    Series w = sum_of(p.x);
                    for (int step = 0; step < 3; ++step) {
                      Series slope;
                      for (std::size_t i = 0; i < p.x.size(); ++i)
                        if (p.k[i] > 0) slope += (p.x[i] * w - sin(p.x[i])) * p.x[i] * 2;
                      w = w - slope * 0.05;
                    }
                    return Array({}, {w});
                  }});
  expect_program(
      {"training as long as the loss is large",
       [](Given x, Given, Given m) {
         const auto [i, w, history] = while_loop(
             [&](Tensor i, Tensor, Tensor) { return i < m; },
             [&](Tensor i, Tensor w, Tensor history) {
               const Tensor some = slice_between(x, {}, i + 1, {});
               const auto loss = [&](const Tensor& at) {
                 return reduce_sum(square(some * at - 1));
               };
               const auto [value, slope] = value_and_grad(loss)(w);
               return std::tuple(i + 1, w - 0.1 * slope, concat({history, one_row(value)}, 0));
             },
             std::tuple(whole(0), Tensor(0.3), zeros({0}, float64)));
         return concat({history, one_row(w)}, 0);
       },
       [](const Plain& p) {
         Series w(static_cast<double>(0.3));
         Rows history;
         for (int64_t i = 0; i < p.m; ++i) {
           Series value, slope;
           for (const Series& v : part(p.x, 0, i + 1)) {
             value += taylor::square(v * w - 1);
             slope += (v * w - 1) * v * 2;
           }
           history.push_back(value);
           w = w - slope * 0.1;
         }
         history.push_back(w);
         return history;
       }});
  // A state for each sequence, as long as any goes on; finished ones keep theirs.
  expect_program({"recurrence over ragged rows",
                  [](Given x, Given k, Given) {
                    const auto [i, state] = while_loop(
                        [&](Tensor i, Tensor) { return i < largest(k); },
                        [&](Tensor i, Tensor state) {
                          const Tensor live = where(k > i);
                          const Tensor next =
                              tanh(gather_nd(state, live) + gather_nd(x, live) * doubles(i + 1));
                          return std::tuple(i + 1, tensor_scatter_nd_update(state, live, next));
                        },
                        std::tuple(whole(0), zeros_like(x)));
                    return state;
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (std::size_t i = 0; i < p.x.size(); ++i) {
                      Series state;
                      for (int64_t j = 0; j < p.k[i]; ++j)
                        state = tanh(state + p.x[i] * static_cast<long double>(j + 1));
                      out.push_back(state);
                    }
                    return out;
                  }});
  expect_program({"run lengths",
                  [](Given x, Given k, Given) {
                    // A run begins where an element differs from the one before.
                    const Tensor before = concat({zeros({1}, int64) - 1, k}, 0);
                    const Tensor starts = not_equal(k, slice(before, {0}, {k.shape()[0]}));
                    const Tensor run = cumsum(cast(starts, int64)) - 1;
                    const Size runs = to_size(count_nonzero(starts));
                    return unsorted_segment_sum(x, run, runs) *
                           doubles(boolean_mask(k, starts) + 1);
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (std::size_t i = 0; i < p.x.size(); ++i) {
                      if (i == 0 || p.k[i] != p.k[i - 1]) out.emplace_back(0);
                      out.back() += p.x[i] * static_cast<long double>(p.k[i] + 1);
                    }
                    return out;
                  }},
                 /*most_traces=*/3);  // the gradient of sums over groups asks whether there is one
}

}  // namespace
}  // namespace gradus::sized
