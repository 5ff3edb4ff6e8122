// The one thread pool of the process.
//
// parallel_for(n, body) calls body(0) ... body(n-1), each exactly once, in any order and on any
// thread, and returns when all have returned. The calling thread works too and can finish alone:
// chunks are claimed one by one, and a worker that wakes up late finds nothing left instead of
// holding the caller up. So parallel_for costs about 0.2 us while workers are awake and is worth
// it from about 5 us of work.
//
// - Choose chunks from the problem, never from thread_count(), so that results do not depend on it.
// - A nested call runs inline, and so does the call of a second host thread while the pool is busy.
// - If a body throws, chunks not yet started are dropped and one of the exceptions is rethrown.
// - Chunks stop when the user interrupts (gradus/interrupt.h): CancelledError.
// - Threads start with the first call that can use them; after fork the child starts its own.
#pragma once
#include <cstdint>

#include "base/function_ref.h"
#include "gradus/threads.h"

namespace gradus {

void parallel_for(std::int64_t chunks, FunctionRef<void(std::int64_t chunk)> body);

}  // namespace gradus
