// Branches, loops, and functions of functions. Functions of the language take and give lists.
#include "agree/call.h"

namespace agree {
namespace {

Tensors looped(const Call& c) {
  const Fn test = c.fn(0), body = c.fn(1);
  return gd::while_loop([&](const Tensors& x) { return test(x)[0]; },
                        [&](const Tensors& x) { return body(x); }, c.rest(2),
                        {.maximum_iterations = c.i("maximum_iterations", -1)});
}

// f(carry, row) gives the next carry; all carries, as a stack.
Tensors scanned(const Call& c) {
  const Fn f = c.fn(0);
  const auto step = [&](const Tensor& carry, const Tensor& row) {
    const Tensor next = f({carry, row})[0];
    return std::pair(next, next);
  };
  return {gd::scan(step, c.t(1), c.t(2), {.reverse = c.b("reverse")}).second};
}

// The gradients of the sum of f's first result in all arguments.
Tensors gradients(const Fn& f, const Tensors& at) {
  gd::GradientTape tape;
  for (const Tensor& x : at) tape.watch(x);
  const Tensor y = gd::reduce_sum(f(at)[0]);
  Tensors all;
  const std::vector<gd::Source> sources(at.begin(), at.end());
  for (const gd::Gradient& g : tape.gradient({y}, sources, {.unconnected = gd::Unconnected::zero}))
    all.push_back(g.tensor());
  return all;
}

Tensors pushed(const Call& c) {  // f, x..., v...
  const Tensors all = c.rest(1);
  const auto half = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  const Fn f = c.fn(0);
  const auto call = [&](const Tensors& x) { return f(x); };
  return gd::jvp(call, Tensors(all.begin(), half), Tensors(half, all.end())).second;
}

Tensors hessian_product(const Call& c) {  // f, x..., v...
  const Tensors all = c.rest(1);
  const auto half = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  const Fn f = c.fn(0);
  const auto sum = [&](const Tensors& x) { return gd::reduce_sum(f(x)[0]); };
  return gd::hvp(sum, Tensors(all.begin(), half), Tensors(half, all.end()));
}

// f(x...) with the gradient back(dy, x...).
Tensors customised(const Call& c) {
  const Fn f = c.fn(0), back = c.fn(1);
  const auto both = [f, back](const Tensors& x) {
    return std::pair(f(x)[0], [back, x](const Tensor& dy) {
      Tensors all{dy};
      all.insert(all.end(), x.begin(), x.end());
      return back(all);
    });
  };
  return {gd::custom_gradient(both)(c.rest(2))};
}

Tensors jacobian_of(const Call& c) {
  const Tensor x = c.t(1);
  gd::GradientTape tape;
  tape.watch(x);
  const Tensor y = c.fn(0)({x})[0];
  return {tape.jacobian(y, x, gd::Unconnected::zero).tensor()};
}

}  // namespace

void add_control(Table& table) {
  table["cond"] = calls([](const Call& c) -> Tensors {
    const Fn yes = c.fn(1), no = c.fn(2);
    return gd::cond(
        c.t(0), [&] { return yes({}); }, [&] { return no({}); });
  });
  table["switch_case"] = calls([](const Call& c) -> Tensors {
    std::vector<std::function<Tensors()>> branches;
    for (std::size_t i = 1; i < c.count(); ++i) branches.push_back([f = c.fn(i)] { return f({}); });
    return gd::switch_case(c.t(0), branches);
  });
  table["while_loop"] = looped;
  table["scan"] = scanned;
  table["vmap"] = calls([](const Call& c) -> Tensors {
    return gd::vmap([f = c.fn(0)](const Tensors& x) { return f(x); })(c.rest(1));
  });
  table["grad"] = calls([](const Call& c) -> Tensors { return gradients(c.fn(0), c.rest(1)); });
  table["jvp"] = pushed;
  table["hvp"] = hessian_product;
  table["jacobian"] = jacobian_of;
  table["custom_gradient"] = customised;
  table["recompute_grad"] = calls([](const Call& c) -> Tensors {
    return gd::recompute_grad([f = c.fn(0)](const Tensors& x) { return f(x); })(c.rest(1));
  });
  table["function"] = calls([](const Call& c) -> Tensors {  // a compiled function inside
    return gd::function([f = c.fn(0)](const Tensors& x) { return f(x); })(c.rest(1));
  });
}

}  // namespace agree
