#include "control/while_derivative.h"

#include <algorithm>

#include "autodiff/some_inputs.h"
#include "control/region_text.h"
#include "gradus/ops.h"
#include "graph/text.h"

namespace gradus {
namespace {

constexpr int kDeepest = 50;  // a text ends here

Tensors pull_loop(const WhileDerivative& d, Size count, std::span<const Tensor> in) {
  const std::size_t n = d.inner_operands();
  std::vector<Cotangent> found(n);
  pull_counted(d.loop, count, in.first(n), take_defined(in.subspan(n), d.given), d.wanted, found,
               d.kept ? in.back() : Tensor());
  Tensors gradients;
  for (std::size_t i : d.which)
    gradients.push_back(found[i].is_zero() ? Tensor() : dense(found[i]));
  return gradients;
}

Tensors push(const WhileDerivative& d, Size count, std::span<const Tensor> in) {
  const std::size_t n = d.inner_operands();
  return jvp_of([&](std::span<const Tensor> x) { return (*d.of)(count, x); }, in.first(n),
                take_defined(in.subspan(n), d.given));
}

Tensors pull(const WhileDerivative& d, Size count, std::span<const Tensor> in) {
  const std::size_t n = d.inner_operands();
  std::vector<bool> wanted(n, false);
  for (std::size_t i : d.which) wanted[i] = true;
  const std::vector<Tensor> cts = take_defined(in.subspan(n), d.given);
  const std::vector<Cotangent> seeds(cts.begin(), cts.end());
  const auto found = pull_through([&](std::span<const Tensor> x) { return (*d.of)(count, x); },
                                  in.first(n), wanted, seeds);
  Tensors gradients;
  for (std::size_t i : d.which)
    gradients.push_back(found[i].is_zero() ? Tensor() : dense(found[i]));
  return gradients;
}

}  // namespace

std::shared_ptr<WhileDerivative> WhileDerivative::make(Kind kind) {
  auto d = std::make_shared<WhileDerivative>();
  d->kind = kind;
  return d;
}

void WhileDerivative::like_all(std::vector<std::size_t> operands) {
  like = std::move(operands);
  results.clear();
  for (std::size_t k = 0; k < like.size(); ++k) results.push_back(k);
}

std::size_t WhileDerivative::inner_operands() const {
  return loop ? loop->captures_at() + loop->captures() : of->operands();
}

std::size_t WhileDerivative::operands() const {
  return inner_operands() + static_cast<std::size_t>(std::ranges::count(given, true)) + kept;
}

Tensors WhileDerivative::all(std::int64_t count, std::span<const Tensor> in) const {
  switch (kind) {
    case Kind::pull:
      return pull_loop(*this, count, in);
    case Kind::jvp:
      return push(*this, count, in);
    default:
      return pull(*this, count, in);
  }
}

Tensors WhileDerivative::operator()(std::int64_t count, std::span<const Tensor> in) const {
  const Tensors found = all(count, in);
  Tensors some;
  for (std::size_t k = 0; k < results.size(); ++k)
    some.push_back(found[results[k]].defined() ? found[results[k]] : zeros_like(in[like[k]]));
  return some;
}

std::string WhileDerivative::describe() const {
  const char* names[] = {"pull ", "jvp ", "vjp "};
  return names[static_cast<int>(kind)] + ("[" + (loop ? loop->describe() : of->describe()) + "]") +
         flags();
}

std::string WhileDerivative::besides() const {
  return std::to_string(static_cast<int>(kind)) + "[" + (loop ? loop->besides() : of->besides()) +
         "]" + flags();
}

std::string WhileDerivative::flags() const {
  std::string text;
  if (loop) text += " wanted " + in_brackets(wanted);
  text += " given " + in_brackets(given) + " which " + in_brackets(which) + " results " +
          in_brackets(results) + " like " + in_brackets(like);
  return text + (kept ? " kept" : "");
}

namespace {

std::shared_ptr<WhileDerivative> read(TextReader& reader, Graph& around, int depth) {
  if (depth == kDeepest) reader.refuse("too many derivatives of derivatives");
  const auto d = std::make_shared<WhileDerivative>();
  d->kind = reader.accept("pull")  ? WhileDerivative::Kind::pull
            : reader.accept("jvp") ? WhileDerivative::Kind::jvp
                                   : WhileDerivative::Kind::vjp;
  if (d->kind == WhileDerivative::Kind::vjp) reader.expect("vjp");
  reader.expect("[");
  std::size_t most = 0;  // results that there could be
  if (d->kind == WhileDerivative::Kind::pull) {
    d->loop = std::static_pointer_cast<const CountedLoop>(read_counted(reader, around));
    most = d->loop->body->output_count();
  } else {
    d->of = read(reader, around, depth + 1);
    most = d->kind == WhileDerivative::Kind::jvp ? d->of->operands() : d->of->results.size();
  }
  reader.expect("]");
  const std::size_t n = d->inner_operands();
  if (d->loop) {
    reader.expect("wanted");
    d->wanted = read_flags(reader, n);
  }
  reader.expect("given");
  d->given = read_flags(reader, most);
  reader.expect("which");
  d->which = read_indices(reader, n);
  const std::size_t all =
      d->kind == WhileDerivative::Kind::jvp ? d->of->results.size() : d->which.size();
  reader.expect("results");
  d->results = read_indices(reader, all);
  reader.expect("like");
  d->like = read_indices(reader, n);
  if (d->like.size() != d->results.size()) reader.refuse("each result is like one operand");
  d->kept = d->loop && reader.accept("kept");
  return d;
}

}  // namespace

std::shared_ptr<Held> read_while_derivative(TextReader& reader, Graph& around) {
  return read(reader, around, 0);
}

}  // namespace gradus
