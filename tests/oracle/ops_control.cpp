// Loops and branches, which are no records but whose derivatives the engine makes itself.
#include "oracle/program.h"

namespace oracle {
namespace {

bool one_real(Maker& m, Node& n) {
  n.in = {m.within(-3, 3)};
  n.ints = {m.between(0, 3)};
  return true;
}

void add_loops(Table& t) {
  // y = sin(y) + x / 2, so many times; the loop sees x from outside.
  t.push_back({"while_loop", one_real,
               [](const Node& n, const Tensors& in) {
                 const gd::Tensor x = in[0];
                 const auto [i, y] = gd::while_loop(
                     [&](const gd::Tensor& k, const gd::Tensor&) { return k < n.ints[0]; },
                     [&](const gd::Tensor& k, const gd::Tensor& v) {
                       return std::tuple(k + 1, gd::sin(v) + x * 0.5);
                     },
                     std::tuple(gd::Tensor(0), x));
                 return y;
               },
               with_reals([](const Node& n, const auto& in) {
                 return map(in[0], [&](const Nil& x) {
                   Nil y = x;
                   for (Size k = 0; k < n.ints[0]; ++k) y = sin(y) + x * Nil(0.5L);
                   return y;
                 });
               })});
  // carry = carry * sin(row) + row; all carries and the last one.
  t.push_back({"scan",
               [](Maker& m, Node& n) {
                 n.in = {m.real_of({2}), m.real_of({3, 2})};
                 n.ints = {m.coin()};
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 const auto [last, all] = gd::scan(
                     [](const gd::Tensor& carry, const gd::Tensor& row) {
                       const gd::Tensor next = carry * gd::sin(row) + row;
                       return std::pair(next, next * carry);
                     },
                     in[0], in[1], {.reverse = n.ints[0] != 0});
                 return last + gd::reduce_sum(all, {0});
               },
               with_reals([](const Node& n, const auto& in) {
                 Reals carry = in[0], sum({2});
                 for (Size i = 0; i < 3; ++i) {
                   const Size row = n.ints[0] ? 2 - i : i;
                   for (Size k = 0; k < 2; ++k) {
                     const Nil& x = in[1][row * 2 + k];
                     const Nil next = carry[k] * sin(x) + x;
                     sum[k] += next * carry[k];
                     carry[k] = next;
                   }
                 }
                 return map(carry, sum, [](const Nil& a, const Nil& b) { return a + b; });
               })});
}

void add_branches(Table& t) {
  t.push_back(
      {"cond", one_real,
       [](const Node&, const Tensors& in) {
         const gd::Tensor x = in[0];
         return gd::cond(
             gd::reduce_sum(x) > 0, [&] { return x * gd::sin(x); }, [&] { return gd::exp(-x); });
       },
       with_reals([](const Node&, const auto& in) {
         Nil sum = 0;
         for (const Nil& x : in[0].data) sum += x;
         require(std::abs(sum.base()) > 1e-2L, "a condition");
         return map(in[0], [&](const Nil& x) { return sum.base() > 0 ? x * sin(x) : exp(-x); });
       })});
  t.push_back({"switch_case", one_real,
               [](const Node& n, const Tensors& in) {
                 const gd::Tensor x = in[0];
                 const std::vector<std::function<gd::Tensor()>> branches = {
                     [&] { return gd::square(x); }, [&] { return gd::cos(x); }, [&] { return x; }};
                 return gd::switch_case(gd::Tensor(static_cast<int>(n.ints[0])), branches);
               },
               with_reals([](const Node& n, const auto& in) {
                 return map(in[0], [&](const Nil& x) {
                   return n.ints[0] == 0 ? x * x : n.ints[0] == 1 ? cos(x) : x;
                 });
               })});
}

}  // namespace

void add_control(Table& table) {
  add_loops(table);
  add_branches(table);
}

}  // namespace oracle
