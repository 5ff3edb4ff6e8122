#include <iomanip>
#include <sstream>

#include "autodiff/private_tape.h"
#include "autodiff/vector_sweeps.h"
#include "base/check.h"
#include "gradus/functional.h"
#include "gradus/jacobian.h"
#include "gradus/ops.h"

namespace gradus {
namespace {

const char* name_of(JacobianMode mode) {
  switch (mode) {
    case JacobianMode::forward:
      return "forward";
    case JacobianMode::reverse:
      return "reverse";
    default:
      return "automatic";
  }
}

// "1.5e+06", short enough to compare at a glance.
std::string rounded(double x) {
  std::ostringstream text;
  text << std::setprecision(3) << x;
  return text.str();
}

void choose_mode(const SweepCost& cost, JacobianMode asked, JacobianReport& report) {
  const auto in = static_cast<double>(report.inputs), out = static_cast<double>(report.outputs);
  const double forward = in * cost.forward(), reverse = out * cost.reverse();
  report.mode = asked;
  if (asked == JacobianMode::automatic) {
    report.mode = forward <= reverse ? JacobianMode::forward : JacobianMode::reverse;
    std::ostringstream why;
    why << report.inputs << " directions forward would cost about " << rounded(forward) << ", "
        << report.outputs << " rows back about " << rounded(reverse)
        << " (in flops; a byte counts as 4)";
    report.reason = why.str();
  } else {
    report.reason = "asked for";
  }
  const bool ahead = report.mode == JacobianMode::forward;
  report.flops = ahead ? in * cost.forward_flops : out * cost.reverse_flops;
  report.bytes = ahead ? in * cost.forward_bytes : out * cost.reverse_bytes;
}

// The Jacobian of a recorded target with respect to all arguments of the tape.
Jacobian jacobian_of(PrivateTape& tape, const Tensor& target, const JacobianOptions& options) {
  JacobianReport report;
  report.outputs = target.num_elements();
  for (std::size_t s = 0; s < tape.ids().size(); ++s)
    if (!tape.ids()[s].empty()) report.inputs += tape.inputs()[s].num_elements();
  choose_mode(estimate_cost(tape.recording(), tape.bit(), tape.ids(), target), options.mode,
              report);

  VectorSweep sweep{tape.recording(), tape.bit(), tape.ids(), target, options.chunk};
  const Shape& t = target.shape();
  std::vector<Tensor> blocks(tape.ids().size());
  if (report.mode == JacobianMode::reverse) {
    blocks = sweep.rows(report.outputs);
  } else {
    for (std::size_t s = 0; s < blocks.size(); ++s) {
      if (tape.ids()[s].empty()) continue;
      const Tensor& x = tape.inputs()[s];
      const Tensor columns =
          sweep.columns(s, x.num_elements(), [&](std::int64_t first, std::int64_t count) {
            return reshape(identity_rows(first, count, x.num_elements(), x.dtype()),
                           joined({count}, x.shape()));
          });
      if (!columns.defined()) continue;
      const Tensor flat = reshape(columns, {x.num_elements(), report.outputs});
      blocks[s] = x.num_elements() == 1 || report.outputs == 1 ? flat : transpose(flat);
    }
  }
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    if (tape.ids()[s].empty()) continue;  // an integer argument
    const Tensor& x = tape.inputs()[s];
    const Shape shape = joined(t, x.shape());
    blocks[s] = blocks[s].defined() ? reshape(blocks[s], shape) : zeros(shape, x.dtype());
  }
  report.passes = sweep.passes;
  report.chunk = sweep.chunk;
  return Jacobian(std::move(blocks), std::move(report));
}

Tensor only_result(const char* what, const std::vector<Tensor>& value) {
  if (value.size() != 1 || !value[0].defined() || !is_differentiable(value[0].dtype())) {
    fail<InvalidArgumentError>(
        "[", what, "] the function returned ",
        value.size() == 1 && value[0].defined()
            ? std::string("a ") + gradus::name_of(value[0].dtype()) + " tensor"
            : std::to_string(value.size()) + " tensors",
        "; it must return one float or complex tensor");
  }
  return value[0];
}

PrivateTape tape_over(const char* what, const std::vector<Tensor>& at) {
  PrivateTape tape(at, PrivateTape::Sweeps::both);
  if (tape.is_idle()) {
    fail<InvalidArgumentError>("[", what, "] got ",
                               at.empty() ? "no tensor" : gradus::name_of(at[0].dtype()),
                               "; only float and complex tensors have derivatives, cast it");
  }
  return tape;
}

// The gradient with respect to each argument, of every element of a result of shape t.
std::vector<Tensor> first_derivatives(const detail::Function& f, const std::vector<Tensor>& at,
                                      Shape* t) {
  PrivateTape tape = tape_over("hessian", at);
  const Tensor y = only_result("hessian", f(tape.inputs()));
  tape.stop();
  *t = y.shape();
  if (y.rank() == 0) {
    const Cotangent one(ones({}, y.dtype()));
    return tape.pull_back({&y, 1}, {&one, 1}, true);
  }
  return jacobian_of(tape, y, {.mode = JacobianMode::reverse}).blocks();
}

}  // namespace

const Tensor& Jacobian::tensor() const {
  if (blocks_.size() != 1) {
    fail<InvalidArgumentError>("[Jacobian] it has ", blocks_.size(),
                               " blocks, one per argument; use blocks()");
  }
  return blocks_[0];
}

std::string to_string(const JacobianReport& r) {
  std::ostringstream text;
  text << name_of(r.mode) << " mode: " << r.reason << "\n"
       << r.outputs << " x " << r.inputs << " derivatives in " << r.passes << " pass"
       << (r.passes == 1 ? "" : "es") << " of up to " << r.chunk << ", about " << rounded(r.flops)
       << " flops and " << rounded(r.bytes) << " bytes\n";
  return text.str();
}

std::ostream& operator<<(std::ostream& out, const JacobianReport& report) {
  return out << to_string(report);
}

namespace detail {

Jacobian jacobian(const Function& f, const std::vector<Tensor>& at,
                  const JacobianOptions& options) {
  PrivateTape tape = tape_over("jacobian", at);
  const Tensor target = only_result("jacobian", f(tape.inputs()));
  tape.stop();
  return jacobian_of(tape, target, options);
}

Jacobian hessian(const Function& f, const std::vector<Tensor>& at, const JacobianOptions& options) {
  PrivateTape tape = tape_over("hessian", at);
  Shape t;
  const std::vector<Tensor> first = first_derivatives(f, tape.inputs(), &t);
  // All first derivatives side by side: (elements of the result, elements of all arguments).
  std::vector<Tensor> flat;
  for (const Tensor& g : first)
    if (g.defined()) flat.push_back(reshape(g, {t.num_elements(), -1}));
  const Tensor target = concat(flat, 1);
  tape.stop();
  const Jacobian second = jacobian_of(tape, target, options);
  std::vector<Tensor> blocks;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::int64_t width = first[i].defined() ? tape.inputs()[i].num_elements() : 0;
    for (std::size_t j = 0; j < first.size(); ++j) {
      if (!first[i].defined() || !first[j].defined()) {
        blocks.emplace_back();
        continue;
      }
      Tensor block = second.blocks()[j];
      if (width != target.shape()[1]) {
        Shape begin{0, offset}, size{t.num_elements(), width};
        for (const Size n : tape.inputs()[j].shape()) {
          begin.push_back(0);
          size.push_back(n);
        }
        block = slice(block, begin, size);
      }
      blocks.push_back(
          reshape(block, joined(joined(t, tape.inputs()[i].shape()), tape.inputs()[j].shape())));
    }
    offset += width;
  }
  return Jacobian(std::move(blocks), second.report());
}

}  // namespace detail
}  // namespace gradus
