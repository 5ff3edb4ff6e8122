# Flags, sanitizers, and the fast linker and compiler cache where the machine has them.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(gradus_flags INTERFACE)
target_compile_options(gradus_flags INTERFACE
  -Wall -Wextra -Werror
  # IEEE values with vectorised loops; contraction only where a kernel asks for fma by name.
  -fno-trapping-math -fno-math-errno -ffp-contract=off
  $<$<CONFIG:Release>:-O2>)

find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(GRADUS_SANITIZE)
  add_compile_options(-fsanitize=${GRADUS_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${GRADUS_SANITIZE})
  if(GRADUS_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

set(kernel_optimisation -O3)
if(GRADUS_SANITIZE)
  set(kernel_optimisation -O1)  # instrumented kernels take minutes to compile at -O3
endif()
set(GRADUS_ISA_FLAGS_baseline ${kernel_optimisation})
set(GRADUS_ISA_FLAGS_avx2 ${kernel_optimisation} -march=x86-64-v3)
set(GRADUS_ISA_FLAGS_avx512 ${kernel_optimisation} -march=x86-64-v4 -mprefer-vector-width=512)
