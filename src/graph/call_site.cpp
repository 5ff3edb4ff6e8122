#include "gradus/call_site.h"

#include <atomic>
#include <bit>
#include <utility>

#include "graph/context.h"
#include "graph/variable_program.h"

namespace gradus {

namespace {

// In libstdc++ a source_location is a pointer to these fields, in this order.
static_assert(sizeof(std::source_location) == sizeof(const ForeignLine*));
std::source_location as_location(const ForeignLine& line) {
  return std::bit_cast<std::source_location>(&line);
}

}  // namespace

constinit std::atomic<int> living_programs{0};

bool lines_are_recorded() noexcept {
  return thread_context.observer || thread_context.graph ||
         living_programs.load(std::memory_order_relaxed) > 0;
}

AttributeToLine::AttributeToLine(const ForeignLine& line) noexcept
    : saved_(thread_context.where), fixed_(std::exchange(thread_context.fixed, true)) {
  thread_context.where = as_location(line);
}

AttributeToLine::~AttributeToLine() {
  thread_context.where = saved_;
  thread_context.fixed = fixed_;
}

}  // namespace gradus
