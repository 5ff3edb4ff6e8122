// Branches and loops whose results have sizes that only their run finds.
//
//   cond(c, [&] { return boolean_mask(x, m); }, [&] { return x; })
//   while_loop(test, [&](Tensor rows) { return concat({rows, row}, 0); }, zeros({0, 3}))
//
// An ordinary branch or loop (branch.h, loop.h) is a kernel: its results have a place before it
// runs. Here the sizes of the results differ from branch to branch or from turn to turn, or are
// found inside. So the node is one that finds sizes (graph/found_size.h): the program stops at it,
// the regions run as programs of their own, and what they give is what the rest of the program goes
// on with.
//
// A derivative of such a node is again one. It is data, not code: which operands and results of
// which flow are meant. When it runs, sizes are known and the flow is differentiated op by op.
#pragma once
#include "compile/region.h"

namespace gradus {

class SizedFlow final : public Held, public HasGraphs, public Repeatable {
 public:
  enum class Kind : std::uint8_t {
    branch,  // of `regions`: an index and operands -> results of the region that it chooses
    loop,    // test and body: carries and captures -> the last carries
    jvp,     // of `of`: its operands and the tangents in `given` -> tangents of its results
    vjp      // of `of`: its operands and the cotangents in `given` -> gradients of `which`
  };
  Kind kind = Kind::branch;
  std::vector<std::shared_ptr<Region>> regions;
  std::int64_t maximum_iterations = -1;   // loop; below 0: no limit
  std::vector<std::vector<bool>> varies;  // branch, loop: by result and axis: found by the run
  std::shared_ptr<const SizedFlow> of;
  std::vector<bool> given;         // by operand (jvp) or result (vjp) of `of`
  std::vector<std::size_t> which;  // operands of `of`

  std::size_t operand_count() const;
  std::size_t result_count() const;
  // Results for operands like these; `found` are the sizes that vary, in order.
  void infer(std::span<const View> in, std::span<const Size> found, Avals& out) const;
  std::size_t found_count() const;  // of the sizes that vary

  // On tensors with values. As programs, or op by op so that a tape sees them.
  Tensors run(std::span<const Tensor> in) const;
  Tensors run_ops(std::span<const Tensor> in) const;
  // Of the operands in `wanted`, those that may have a gradient if the results in `given` have one.
  std::vector<std::size_t> reached(const std::vector<bool>& wanted,
                                   const std::vector<bool>& given) const;

  bool is_stateful() const;
  bool may_repeat() const override;
  std::shared_ptr<const Held> without_effects() const override;
  std::string describe() const override;
  std::vector<Inner> inner_graphs() const override;
  std::string besides() const override;
  std::shared_ptr<const SizedFlow> shared() const {
    return std::static_pointer_cast<const SizedFlow>(shared_from_this());
  }

 private:
  template <class Call>
  Tensors choose_or_repeat(std::span<const Tensor> in, const Call& call) const;
};

std::shared_ptr<Held> read_sized_flow(TextReader& reader, Graph& around);  // what describe() wrote

// The results of branches, or of the carries of a loop: at once, or as a node whose results have
// new unknown sizes.
Tensors run_sized_flow(const std::shared_ptr<const SizedFlow>& flow,
                       std::span<const Tensor> operands);

}  // namespace gradus
