// Programs that must not compile, each with the sentence that says why (refused/try.cmake): one
// function for each number of CASE. Without one the file compiles.
#include "gradus/control.h"
#include "gradus/function.h"
#include "gradus/functional.h"
#include "gradus/layers.h"
#include "gradus/ops.h"
#include "gradus/vmap.h"

namespace gd = gradus;

class Closed {
 public:
  explicit Closed(gd::Tensor w) : w_(std::move(w)) {}
  gd::Tensor operator()(const gd::Tensor& x) const { return x * w_; }

 private:
  gd::Tensor w_;
};
struct Counted {
  gd::Tensor x;
  int turns;
};
struct Slowed : gd::keras::Dense {  // its base says nothing of the rate
  using Dense::Dense;
  double rate = 1;
};
class Copying {
 public:
  explicit Copying(gd::Tensor w) : w_(std::move(w)) {}
  auto gradus_parts() { return std::tuple(w_); }

 private:
  gd::Tensor w_;
};
class Named : public std::vector<gd::Tensor> {
 public:
  float scale() const { return scale_; }

 private:
  float scale_ = 1;
};
class Printed {
 public:
  explicit Printed(gd::Tensor w) : w_(std::move(w)) {}
  operator std::string() const { return gd::to_string(w_); }

 private:
  gd::Tensor w_;
};

void run(const gd::Tensor& x) {
  const Closed closed(x);
  const auto call = [](const Closed& c) { return c(gd::Tensor(1.0f)); };
#if CASE == 1  // this type cannot be read
  gd::function(call)(closed);
#elif CASE == 2   // this type cannot be read
  gd::vmap(call)(closed);
#elif CASE == 3   // this type cannot be read
  gd::grad(call)(closed);
#elif CASE == 4   // this type cannot be read
  gd::jvp(call, closed, closed);
#elif CASE == 5   // this type cannot be read
  gd::function([&] { return closed; })();
#elif CASE == 6   // among the variables of a loop
  gd::while_loop([](const Counted& c) { return c.turns < 3; },
                 [](const Counted& c) {
                   return Counted{c.x * 2, c.turns + 1};
                 },
                 Counted{x, 0});
#elif CASE == 7   // among the variables of a loop
  gd::scan([](const Counted& c, const gd::Tensor& row) { return std::pair(c, row); }, Counted{x, 0},
           x);
#elif CASE == 8   // which branch runs is decided when the program does
  gd::cond(
      x > 0,
      [&] {
        return Counted{x, 1};
      },
      [&] {
        return Counted{x, 2};
      });
#elif CASE == 9   // there is no tensor in this argument
  gd::grad([](double y) { return gd::Tensor(y); })(2.0);
#elif CASE == 10  // in the class itself
  gd::function([](const Slowed& s) { return s.kernel * s.rate; })(Slowed(1, 1));
#elif CASE == 11  // no copies of tensors
  gd::function([](const Copying&) {})(Copying(x));
#elif CASE == 12  // this type cannot be read
  gd::function([](const Named& n) { return n[0] * n.scale(); })(Named());
#elif CASE == 13  // this type cannot be read
  gd::function([](const Printed&) {})(Printed(x));
#elif CASE == 14  // the function cannot be called with these arguments
  gd::function([](const gd::Tensor& a, double k) { return a * k; })(x, 2.5);
#elif CASE == 15  // the function cannot be called with these arguments
  gd::function([](const gd::Tensor& a, const gd::Tensor& b) { return a * b; })(x);
#elif CASE == 16  // the function cannot be called with these arguments
  gd::grad([](const gd::Tensor& a, const gd::Tensor& b) { return a * b; })(x);
#elif CASE == 17  // the function cannot be called with these arguments
  gd::vmap([](const gd::Tensor& a, const gd::Tensor& b) { return a * b; })(x);
#elif CASE == 18  // takes two functions without parameters
  gd::cond(x > 0, x, -x);
#elif CASE == 19  // the test and the body take the loop variables
  gd::while_loop([](const gd::Tensor&) { return true; },
                 [](const gd::Tensor& a, const gd::Tensor&) { return a; }, x);
#elif CASE == 20  // the body gives the loop variables of the next turn
  gd::while_loop([](const gd::Tensor& a) { return a < 3; }, [](const gd::Tensor&) {}, x);
#elif CASE == 21  // the function gives std::pair
  gd::scan([](const gd::Tensor& a, const gd::Tensor& b) { return a + b; }, x, x);
#elif CASE == 22  // there is no argument of that number
  gd::grad<1>([](const gd::Tensor& a) { return a; })(x);
#else
  call(closed);
#endif
}
