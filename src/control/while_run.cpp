// A while on memory of the node: the carries are worked on where they are given away.
#include <cstring>
#include <limits>

#include "control/kept_states.h"
#include "control/loop_run.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

class WhileRun {
 public:
  WhileRun(const WhileLoop& loop, const KernelCall& c) : c_(c), carries_(loop.carries()) {
    for (const View& v : c.in) from_.push_back({v.data});
    for (std::size_t i = 0; i < carries_; ++i) {
      now_.push_back(c.out[i].data);
      next_.push_back(c.out[i].data);
      second_.emplace_back();
      if (bytes_of(c.out[i]) > 0) std::memcpy(now_[i], c.in[i].data, bytes_of(c.out[i]));
    }
  }

  bool test(const Region& region) {
    SmallVector<void*, 16> in(now_.begin(), now_.end());
    for (const View& v : c_.in.subspan(carries_)) in.push_back(v.data);
    void* const answer[] = {&more_};
    Executable::Runner(region.program(), c_.in).run(in, answer);
    return more_;
  }

  // Turns of one program, until the test that may be a part of it fails. Gives their number.
  std::int64_t turn(Executable::Runner& program, std::int64_t times, bool tests) {
    to_.clear();
    for (std::size_t i = 0; i < carries_; ++i) {
      // In one place if an iteration may write over its own input, else in two by turns.
      const bool in_place = program.writes_over_input(i);
      if (!in_place && !second_[i].defined()) {
        second_[i] = make_tensor(c_.out[i].dtype, *c_.out[i].shape);
        next_[i] = second_[i].impl()->data;
      }
      void* const there = in_place ? now_[i] : next_[i];
      const std::ptrdiff_t distance = static_cast<char*>(there) - static_cast<char*>(now_[i]);
      from_[i] = {now_[i], distance, true};
      to_.push_back({there, -distance, true});
    }
    if (tests) to_.push_back({&more_});
    const std::int64_t done = program.repeat(times, from_, to_, tests ? &more_ : nullptr);
    for (std::size_t i = 0; i < carries_; ++i)
      if (done % 2 != 0 && to_[i].at != now_[i]) std::swap(now_[i], next_[i]);
    return done;
  }

  bool goes_on() const { return more_; }
  std::span<void* const> carries() const { return {now_.data(), now_.size()}; }

  void finish() {
    for (std::size_t i = 0; i < carries_; ++i)
      if (now_[i] != c_.out[i].data && bytes_of(c_.out[i]) > 0)
        std::memcpy(c_.out[i].data, now_[i], bytes_of(c_.out[i]));
  }

 private:
  const KernelCall& c_;
  std::size_t carries_;
  bool more_ = false;
  SmallVector<void*, 16> now_, next_;
  SmallVector<Tensor, 8> second_;
  SmallVector<Executable::Runner::Track, 16> from_, to_;
};

}  // namespace

// The test is made once before the loop, and then together with each iteration, except with the
// last that is allowed, after which it may not be made.
void run_while(const WhileLoop& loop, const KernelCall& c, KeptStates* states) {
  constexpr std::int64_t many = std::numeric_limits<std::int64_t>::max();
  const std::int64_t most = loop.maximum_iterations, tested = most < 0 ? many : most - 1;
  WhileRun run(loop, c);
  if (most == 0 || !run.test(*loop.test)) return;
  {
    Executable::Runner step(loop.step().program(), c.in);
    for (std::int64_t done = 0; run.goes_on() && done < tested;) {
      const std::int64_t asked = states ? states->turns_to_next(done) : many;
      done += run.turn(step, std::min(asked, tested - done), true);
      if (states && run.goes_on()) states->offer(done, run.carries());
    }
  }
  if (run.goes_on() && most > 0) {
    Executable::Runner last(loop.body->program(), c.in);
    run.turn(last, 1, false);
  }
  run.finish();
}

}  // namespace gradus
