// Writes the machine code of a tile kernel (gemm_tile.h) for AVX2 or AVX-512.
#pragma once
#include "kernels/gemm_tile.h"

namespace gradus::kernels {

// The code stays for the life of the process. Null when the system hands out no executable memory.
TileKernel::Function emit_tile(const TileSpec& spec);

}  // namespace gradus::kernels
