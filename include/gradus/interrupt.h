// Stopping long work. request_interrupt() raises a flag that every long loop of Gradus looks at
// (between chunks of a kernel, between steps of a compiled program); the loop then throws
// CancelledError from the call that was running. The flag stays up, so that everything in flight
// stops, until clear_interrupt().
//
//   std::signal(SIGINT, [](int) { gradus::request_interrupt(); });
//   try { train(); } catch (const gradus::CancelledError&) { gradus::clear_interrupt(); save(); }
#pragma once
#include <atomic>

namespace gradus {

namespace detail {
extern std::atomic<bool> interrupt_flag;
[[noreturn]] void throw_interrupted();
}  // namespace detail

// May be called from a signal handler and from any thread.
void request_interrupt() noexcept;
void clear_interrupt() noexcept;

inline bool interrupt_requested() noexcept {
  return detail::interrupt_flag.load(std::memory_order_relaxed);
}

// Throws CancelledError if an interrupt was requested. One load and one branch.
inline void check_interrupt() {
  if (interrupt_requested()) [[unlikely]]
    detail::throw_interrupted();
}

}  // namespace gradus
