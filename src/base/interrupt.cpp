#include "gradus/interrupt.h"

#include "base/check.h"

namespace gradus {
namespace detail {

constinit std::atomic<bool> interrupt_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not take a lock");

void throw_interrupted() {
  fail<CancelledError>("interrupted; results of the running call are lost, everything else is as ",
                       "it was; call clear_interrupt() before continuing");
}

}  // namespace detail

void request_interrupt() noexcept { detail::interrupt_flag.store(true); }
void clear_interrupt() noexcept { detail::interrupt_flag.store(false); }

}  // namespace gradus
