// A derivative of a loop as a function of the number of its turns, which only the program knows.
//
// It is data, not code: the loop and which of its operands are meant, or the derivative that it is
// a derivative of. So a program that holds one can be written to a file and read by another
// process. What is expensive, the traced bodies and their programs, is kept with the loops.
#pragma once
#include "control/loop.h"

namespace gradus {

struct WhileDerivative final : Held, HasGraphs {
  enum class Kind : std::uint8_t {
    pull,  // of `loop`: its operands and the cotangents in `given` -> gradients of `which`
    jvp,   // of `of`: its operands and the tangents in `given` -> tangents of its results
    vjp    // of `of`: its operands and the cotangents in `given` -> gradients of `which`
  };
  Kind kind = Kind::pull;
  std::shared_ptr<const CountedLoop> loop;
  std::shared_ptr<const WhileDerivative> of;
  std::vector<bool> wanted;        // pull: by operand of the loop
  std::vector<bool> given;         // by result, or for jvp by operand
  std::vector<std::size_t> which;  // operands
  bool kept = false;               // pull: the last operand is states that the loop has kept

  // Which of all that it could give it gives, and the operands whose dtypes and shapes these have.
  std::vector<std::size_t> results, like;

  static std::shared_ptr<WhileDerivative> make(Kind kind);
  std::shared_ptr<const WhileDerivative> shared() const {
    return std::static_pointer_cast<const WhileDerivative>(shared_from_this());
  }
  void like_all(std::vector<std::size_t> operands);  // it gives everything
  std::size_t inner_operands() const;                // without tangents, cotangents and states
  std::size_t operands() const;
  // Everything; undefined: zero whatever the operands are.
  Tensors all(std::int64_t count, std::span<const Tensor> in) const;
  // `results`, none of them undefined.
  Tensors operator()(std::int64_t count, std::span<const Tensor> in) const;
  std::string describe() const override;
  std::vector<Inner> inner_graphs() const override {
    return loop ? loop->inner_graphs() : of->inner_graphs();
  }
  std::string besides() const override;

 private:
  std::string flags() const;
};

std::shared_ptr<Held> read_while_derivative(TextReader& reader, Graph& around);

}  // namespace gradus
