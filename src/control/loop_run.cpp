#include "control/loop_run.h"

#include <cstring>

#include "tensor/tensor_impl.h"

namespace gradus {

std::size_t bytes_of(const View& v) {
  return static_cast<std::size_t>(v.count()) * size_of(v.dtype);
}

LoopRun::LoopRun(const CountedLoop& loop, std::span<const View> operands, Results results)
    : loop_(loop) {
  const std::size_t carries = loop.carries;
  for (const View& v : operands.first(carries)) views_.push_back(v);
  row_shapes_.reserve(loop.xs);
  for (const View& x : operands.subspan(carries, loop.xs)) {
    row_shapes_.push_back(*x.shape);
    row_shapes_.back().erase(0);
    views_.push_back({nullptr, &row_shapes_.back(), x.dtype});
  }
  for (const View& v : operands.subspan(loop.captures_at())) views_.push_back(v);
  Executable& program = loop.body->program();
  body_.emplace(program, views_);
  // A carry that is also kept in a stack is read from there by the next iteration.
  const auto& outputs = program.graph().outputs();
  const std::size_t stacks = results == Results::stacks ? loop.ys : 0;
  for (std::size_t i = 0; i < carries; ++i) {
    bytes_.push_back(bytes_of(views_[i]));
    kept_.push_back(-1);
    for (std::size_t k = stacks; k-- > 0;)
      if (outputs[carries + k] == outputs[i]) kept_[i] = static_cast<std::int32_t>(k);
    Tensor second;
    if (kept_[i] < 0 && !body_->writes_over_input(i))
      second = make_tensor(views_[i].dtype, *views_[i].shape);
    second_.push_back(std::move(second));
  }
  in_.resize(views_.size());
  for (std::size_t i = carries + loop.xs; i < views_.size(); ++i) in_[i] = {views_[i].data};
  out_.resize(carries + loop.ys);
}

void LoopRun::begin(std::span<void* const> carries) {
  now_.clear();
  next_.clear();
  for (std::size_t i = 0; i < carries.size(); ++i) {
    now_.push_back(carries[i]);
    next_.push_back(second_[i].defined() ? second_[i].impl()->data : carries[i]);
  }
}

// Iterations in which every stack has its row, so that each begins a constant number of bytes after
// the one before.
void LoopRun::run_alike(std::int64_t first, std::int64_t count, std::span<const Rows> xs,
                        std::span<const Rows> ys) {
  const auto track = [&](const Rows& rows) -> Executable::Runner::Track {
    const auto bytes = static_cast<std::ptrdiff_t>(rows.bytes);
    return {rows.at(first), loop_.backwards ? -bytes : bytes};
  };
  for (std::size_t i = 0; i < xs.size(); ++i) in_[loop_.carries + i] = track(xs[i]);
  for (std::size_t k = 0; k < ys.size(); ++k) out_[loop_.carries + k] = track(ys[k]);
  for (std::size_t i = 0; i < loop_.carries; ++i) {
    if (kept_[i] >= 0) {
      out_[i] = out_[loop_.carries + static_cast<std::size_t>(kept_[i])];
      in_[i] = {now_[i], out_[i].step};
    } else {
      const std::ptrdiff_t there = static_cast<char*>(next_[i]) - static_cast<char*>(now_[i]);
      in_[i] = {now_[i], there, true};
      out_[i] = {next_[i], -there, true};
    }
  }
  body_->repeat(count, in_, out_);
  for (std::size_t i = 0; i < loop_.carries; ++i) {
    if (kept_[i] >= 0) {
      now_[i] = static_cast<char*>(out_[i].at) + (count - 1) * out_[i].step;
    } else if (count % 2 != 0) {
      std::swap(now_[i], next_[i]);
    }
  }
}

void LoopRun::run(std::int64_t first, std::int64_t last, std::span<const Rows> xs,
                  std::span<const Rows> ys) {
  const auto row = [&](std::int64_t step) {
    return loop_.backwards ? last - 1 - step : first + step;
  };
  const std::int64_t count = last - first;
  if (count <= 0) return;
  // A kept carry is not yet in its stack, and shifted stacks have an edge at either end.
  run_alike(row(0), 1, xs, ys);
  if (count > 2) run_alike(row(1), count - 2, xs, ys);
  if (count > 1) run_alike(row(count - 1), 1, xs, ys);
}

void LoopRun::copy_carries(std::span<void* const> to) const {
  for (std::size_t i = 0; i < now_.size(); ++i)
    if (now_[i] != to[i] && bytes_[i] > 0) std::memcpy(to[i], now_[i], bytes_[i]);
}

}  // namespace gradus
