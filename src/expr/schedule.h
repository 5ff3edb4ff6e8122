// How a lowered program runs over the columns of a row, for the interpreter and the emitter alike.
//
// A program without reductions has one pass. A value that depends on the result of a reduction made
// in pass p belongs to pass p + 1. A value per element that a later pass needs is computed again
// there if that is cheap, and otherwise kept in a scratch row.
#pragma once
#include "expr/program.h"

namespace gradus::expr {

struct Pass {
  std::vector<std::uint16_t> row;          // values made once per row, before the columns, in order
  std::vector<std::uint16_t> element;      // values made (or read back from scratch) per column
  std::vector<std::uint16_t> saves;        // of `element`: also written to scratch
  std::vector<std::uint16_t> reductions;   // reduce_* instructions that this pass accumulates
  std::vector<std::uint16_t> outputs;      // outputs written per column
  std::vector<std::uint16_t> row_outputs;  // outputs written once per row, after `row`
  bool has_columns() const { return !reductions.empty() || !outputs.empty() || !saves.empty(); }
};

struct Schedule {
  std::vector<Pass> passes;              // the last one may have no columns
  std::vector<std::uint16_t> constants;  // same for all rows
  std::vector<std::uint16_t> made;       // by value per element: the pass that makes it first
  std::vector<bool> varies;              // by value: differs between the columns of a row
  std::vector<std::int16_t> scratch;     // by value: scratch row, or -1
  int scratch_rows = 0;
  bool wide = false;  // some value has 64 bits

  bool read_back(std::uint16_t v, std::size_t pass) const {
    return scratch[v] >= 0 && made[v] < pass;
  }
};

Schedule make_schedule(const Program& p);

// Reductions: lanes that accumulate side by side, columns between two folds of a sum, and the lanes
// left when the accumulators have been folded twice. The same everywhere, hence the same bits.
constexpr int stripe_of(bool wide) { return wide ? 16 : 32; }
inline constexpr int kSumBlock = 4096;

}  // namespace gradus::expr
