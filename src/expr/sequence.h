// The element code and the row code of each pass as lists of steps in the order of emission, with
// what register allocation wants to know about them.
#pragma once
#include <algorithm>

#include "expr/schedule.h"

namespace gradus::expr {

inline constexpr std::uint32_t kNever = ~0u;

// One action of straight-line code, with the values it reads and the step of their next use.
struct Step {
  enum Kind : std::uint8_t { compute, store, save, accumulate, store_row } kind;
  std::uint8_t reads = 0;
  std::uint16_t value = 0;  // computed, stored, saved or accumulated
  std::uint16_t index = 0;  // output, scratch row, or reduction of the pass
  std::uint16_t read[3] = {};
  std::uint32_t next[3] = {};
  std::uint32_t next_of_result = kNever;
};

struct Sequence {
  std::vector<Step> steps;
  int live = 0;     // registers for the values of one copy, if nothing is to be spilled
  int scratch = 0;  // further registers that a single step needs
  int masked_scratch = 0;
  int shared = 0;  // constants and values per row that are read
  // Registers for values per element when `copies` copies are interleaved. The masked copy runs
  // alone.
  int need(int copies) const { return std::max(copies * live + scratch, live + masked_scratch); }
};

struct Sequences {
  std::vector<Sequence> row, element;  // by pass
  std::vector<bool> lazy;              // by value: an input that is a memory operand of its readers
};

Sequences make_sequences(const Program& p, const Schedule& s);

}  // namespace gradus::expr
