// The nodes of loops.
//
//   while     carries, then captures: body(carries, captures) as long as test(carries, captures).
//             Carry 0 is the number of iterations so far, an int64.
//   counted   a known number of iterations. Takes carries, stacks with one row for each iteration,
//             and captures; gives carries and stacks of what each iteration makes besides. A loop
//             that runs backwards takes and makes rows from the last to the first.
//
// A stack may be shifted: iteration i sees row i - 1 (or i + 1), and where there is no such row an
// operand of its own: the value of a carry before each iteration is the one after it, shifted.
// Carries and rows are written where they will be read; nothing is copied that is not changed.
#pragma once
#include <map>
#include <optional>

#include "compile/region.h"
#include "compile/roles.h"

namespace gradus {

struct CountedLoop;

struct WhileLoop final : Held, Repeatable, HasBodies, KeepsStates, TakesMemory, HasGraphs {
  std::shared_ptr<Region> test, body;
  std::int64_t maximum_iterations = -1;
  std::shared_ptr<CountedLoop> counted;  // the same, as its derivative repeats it

  std::size_t carries() const { return body->output_count(); }
  void infer(std::span<const View> in, Avals& out) const {
    Avals answer;  // a bool, but the test may refuse the sizes that it gets
    test->infer(in, answer);
    body->infer(in, out);
  }
  // An iteration and the test for the next one as one program: carries, then whether to go on.
  const Region& step() const;
  std::string describe() const override;
  std::vector<Inner> inner_graphs() const override { return {test->inner(), body->inner()}; }
  std::string besides() const override;
  bool may_repeat() const override { return test->may_repeat() && body->may_repeat(); }
  std::shared_ptr<const Held> without_effects() const override;
  std::vector<Body> bodies(const Call& call) const override;
  std::shared_ptr<Held> with_bodies(
      std::span<const std::shared_ptr<Region>> regions) const override;
  bool is_asked_by(const Op& op) const override;  // kept_states.cpp
  const Op* keeping(const Op& op) const override;
  std::int64_t inner_bytes(const Call& call) const override;
  std::shared_ptr<Held> with_less_memory(const Call& call, double part) const override;

 private:
  mutable std::once_flag made_;
  mutable std::shared_ptr<Region> step_;
};

struct CountedLoop final : Held, Repeatable, HasBodies, TakesMemory, Extension, HasGraphs {
  std::shared_ptr<Region> body;  // (carries, rows, captures) -> (carries, rows)
  std::size_t carries = 0, xs = 0, ys = 0;
  struct Shift {
    std::int32_t first = -1;  // which of the firsts stands where there is no row; -1: not shifted
    std::int32_t by = 0;      // -1 or 1
  };
  std::vector<Shift> shifts;  // by x
  bool backwards = false;
  std::int64_t memory_limit;  // bytes that its gradient may keep (gradus/loop_memory.h)

  CountedLoop();  // with the limit of the thread

  // Operands: carries, xs, firsts, captures.
  std::size_t firsts() const;
  std::size_t captures_at() const { return carries + xs + firsts(); }
  std::size_t captures() const { return body->input_count() - carries - xs; }

  std::string describe() const override;
  std::vector<Inner> inner_graphs() const override { return {body->inner()}; }
  std::string besides() const override;
  bool may_repeat() const override { return body->may_repeat(); }
  std::shared_ptr<const Held> without_effects() const override;  // always the same one
  std::vector<Body> bodies(const Call& call) const override;
  std::shared_ptr<Held> with_bodies(
      std::span<const std::shared_ptr<Region>> regions) const override;
  std::int64_t inner_bytes(const Call& call) const override;
  std::shared_ptr<Held> with_less_memory(const Call& call, double part) const override;
  // The same with another body, which has the same carries and xs.
  std::shared_ptr<CountedLoop> with_body(std::shared_ptr<Region> other) const;

  using Key = std::pair<std::vector<bool>, std::vector<bool>>;
  struct Pull;
  struct Push;
  mutable std::mutex mutex;  // derivatives are found once
  mutable std::map<Key, std::shared_ptr<const Pull>> pulls;
  mutable std::map<std::vector<bool>, std::shared_ptr<const Push>> pushes;

 private:
  mutable std::once_flag purified_;
  mutable std::shared_ptr<const CountedLoop> pure_;
};

// What describe() wrote (region_text.cpp).
std::shared_ptr<Held> read_while(TextReader& reader, Graph& around);
std::shared_ptr<Held> read_counted(TextReader& reader, Graph& around);

Tensors run_while_node(const std::shared_ptr<WhileLoop>& loop, std::span<const Tensor> operands);
Tensors run_counted(const std::shared_ptr<const CountedLoop>& loop, Size count,
                    std::span<const Tensor> operands);
bool is_while(const Op& op);
const CountedLoop& counted_loop_of(const void* attrs);
Size count_of(const void* attrs);  // the number of turns; it may be a symbol

// Derivatives (loop_gradient.cpp, loop_tangent.cpp, while_gradient.cpp). Gradients by operand.
// `states` are those that a while has kept (kept_states.h), if there are some.
void pull_counted(const std::shared_ptr<const CountedLoop>& loop, Size count,
                  std::span<const Tensor> operands, std::span<const Tensor> cts,
                  const std::vector<bool>& wanted, std::span<Cotangent> grads,
                  const Tensor& states = {});
void pull_while(const WhileLoop& loop, const Tensor& count, std::span<const Tensor> operands,
                std::span<const Tensor> cts, const std::vector<bool>& wanted,
                std::span<Cotangent> grads);
// Operands of a loop without stacks whose gradient is not known to be zero.
std::vector<std::size_t> reached_operands(const CountedLoop& loop, const std::vector<bool>& wanted,
                                          const std::vector<bool>& given);
void push_counted(const CountedLoop& loop, Size count, std::span<const Tensor> operands,
                  std::span<const Tensor> tangents, std::span<Tensor> out);
void push_while(const WhileLoop& loop, std::span<const Tensor> operands,
                std::span<const Tensor> tangents, std::span<Tensor> out);

// How often the body runs, if that follows from constants alone and is not too much to count; and
// what the carries that decide it are then (trip_count.cpp).
struct TripCount {
  std::int64_t count;
  std::vector<Tensor> last;  // by carry; undefined: it does not decide
};
std::optional<TripCount> trip_count(const WhileLoop& loop, std::span<const Tensor> operands);

// A body without effects and without some of its carries, on which no other result depends.
std::shared_ptr<Region> without_carries(const Region& body, const std::vector<bool>& dropped);
// Which carries some results need, directly or through other carries.
std::vector<bool> needed_carries(const Region& body, std::vector<bool> needed);

}  // namespace gradus
