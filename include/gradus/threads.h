// How many threads one operation may use. The default is the environment variable
// GRADUS_NUM_THREADS, else the number of cores this process may run on (its affinity mask and
// its container's CPU quota). Results have the same bits at any number of threads.
#pragma once

namespace gradus {

int thread_count();
void set_thread_count(int count);  // 1 or more; 1 means that no thread is ever started

}  // namespace gradus
