#include "base/code_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace gradus {
namespace {

#if defined(__x86_64__)
// mov eax, value; ret
std::vector<unsigned char> returning(int value, std::size_t bytes) {
  std::vector<unsigned char> code(std::max<std::size_t>(bytes, 6), 0x90);
  code[0] = 0xb8;
  std::memcpy(&code[1], &value, 4);
  code[5] = 0xc3;
  return code;
}

int call(const std::shared_ptr<const void>& memory) {
  int (*function)();
  const void* address = memory.get();
  std::memcpy(&function, &address, sizeof(address));
  return function();
}

TEST(CodeMemory, RunsAndIsUsedAgain) {
  std::vector<std::shared_ptr<const void>> alive;
  for (int k = 0; k < 300; ++k) {
    const auto code = returning(k, static_cast<std::size_t>(k % 11) * 4096 + 6);
    alive.push_back(executable_copy(code.data(), code.size()));
    if (k % 3 == 0) alive[static_cast<std::size_t>(k) / 2].reset();
  }
  int running = 0;
  for (int k = 0; k < 300; ++k)
    if (const auto& memory = alive[static_cast<std::size_t>(k)]) {
      EXPECT_EQ(call(memory), k);
      ++running;
    }
  EXPECT_EQ(running, 200);

  const auto code = returning(7, 6);
  const void* first = executable_copy(code.data(), code.size()).get();
  EXPECT_EQ(executable_copy(code.data(), code.size()).get(), first);
}

TEST(CodeMemory, CodeRunsWhileOtherCodeIsWritten) {
  const auto make = [](int value) {
    const auto code = returning(value, 6);
    return executable_copy(code.data(), code.size());
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 500; ++k) ASSERT_EQ(call(make(t * 1000 + k)), t * 1000 + k);
    });
  for (std::thread& thread : threads) thread.join();
}
#endif

}  // namespace
}  // namespace gradus
