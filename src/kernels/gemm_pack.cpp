#include "kernels/gemm_pack.h"

namespace gradus::kernels {
namespace baseline {
extern const PackTable pack_functions;
}
namespace avx2 {
extern const PackTable pack_functions;
}
namespace avx512 {
extern const PackTable pack_functions;
}

const PackTable& pack_table(Isa isa) {
  return isa == Isa::avx512 ? avx512::pack_functions
         : isa == Isa::avx2 ? avx2::pack_functions
                            : baseline::pack_functions;
}

}  // namespace gradus::kernels
