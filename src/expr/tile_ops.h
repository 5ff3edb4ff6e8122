// What each instruction does to a tile of elements, as plain loops: the portable definition that
// constant folding and the interpreter use and that emitted code must match bit for bit.
#pragma once
#include "expr/program.h"

namespace gradus::expr {

inline constexpr int kTile = 256;    // elements of a tile
inline constexpr int kTileStep = 8;  // loops run over n rounded up to this; tiles have the room
inline constexpr int kTileBytes = kTile * 8;

constexpr int padded(int n) { return (n + kTileStep - 1) & ~(kTileStep - 1); }

// Lanes of a mask are bytes 0 or 1. out must not overlap an operand. n is a multiple of kTileStep.
using TileFn = void (*)(void* out, const void* a, const void* b, const void* c, int n);
// `from` is the type of the first operand.
TileFn tile_fn(const Instr& instr, Type from);

// Between storage and tiles, n elements exactly.
using CopyFn = void (*)(void* to, const void* from, int n);
CopyFn load_fn(DType);
CopyFn store_fn(DType);
void splat(Type type, void* tile, int n);  // lane 0 to all n lanes

}  // namespace gradus::expr
