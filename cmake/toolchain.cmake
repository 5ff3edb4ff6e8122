# Flags, sanitizers, and the fast linker and compiler cache where the machine has them.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The cache must not mind that a precompiled header defines what a file does not name.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  add_compile_options(-fpch-preprocess)
endif()

# Parses headers that most files of a target use once; the first are those of the standard library.
option(GRADUS_PRECOMPILED_HEADERS "Parse common headers once instead of in every file" ON)
function(precompile_headers target)
  if(GRADUS_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/standard_headers.h ${ARGN})
    # GCC no longer sees that these come from the standard library, whose strings they misjudge; the
    # builds for sanitizers have no precompiled headers and keep them, and check includes.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
      -Wno-stringop-overread)
  endif()
endfunction()

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
