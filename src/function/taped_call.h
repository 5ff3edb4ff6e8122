// A compiled function as one op of a tape.
//
// Its program gives the results and, after them, what the way back will read; the way back is a
// program of its own. Both come from one trace: the function, then its vjp. What the vjp uses of
// the function's values and cannot see again for nothing (as a view of an input) is kept. Where
// more is asked for than that trace answers (derivatives of what was kept: second order), the
// function's nodes run once more inside the derivative.
#pragma once
#include <map>

#include "compile/region.h"

namespace gradus {

class TapedCall : public Held {
 public:
  // Of `graph`, as traced; gradients of the inputs in `followed` will be asked for.
  TapedCall(const Graph& graph, const std::vector<bool>& followed);
  // Of a region, with nothing kept.
  explicit TapedCall(std::shared_ptr<Region> region)
      : region_(std::move(region)), results_(region_->output_count()) {}

  const Region& region() const { return *region_; }
  std::size_t result_count() const { return results_; }

  // From all operands, some outputs, and the cotangents in `given` (or the tangents) to
  // derivatives.
  struct Derivative {
    struct Part {
      std::size_t of;     // the operand, or the output
      std::size_t first;  // result of `call`; rows have two: indices and values
      bool rows;
    };
    std::shared_ptr<TapedCall> call;  // none: all are zero
    std::vector<std::size_t> outputs;
    std::vector<Part> parts;
  };
  Derivative pull(const std::vector<bool>& wanted, const std::vector<bool>& given);
  Derivative push(const std::vector<bool>& given);

 private:
  struct Joint;
  Joint trace(const std::vector<bool>& given) const;
  Derivative backward(const std::vector<bool>& wanted, const std::vector<bool>& given) const;

  std::shared_ptr<const Graph> traced_;  // none: nothing is kept
  std::shared_ptr<Region> region_;       // gives the results, then what is kept
  std::size_t results_ = 0;
  std::vector<bool> followed_;
  std::vector<Graph::Value> kept_;  // in the numbering of every Joint
  using Key = std::pair<std::vector<bool>, std::vector<bool>>;
  std::mutex mutex_;
  std::map<Key, Derivative> pulls_, pushes_;
};

// All outputs; compiled, or op by op where an operand is a name or an example of a batch.
Tensors run_call(const std::shared_ptr<TapedCall>& call, std::span<const Tensor> operands);

}  // namespace gradus
