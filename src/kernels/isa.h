// Which instruction set the plain-loop kernels run with.
//
// Every NAME_isa.cpp is compiled once per instruction set into gradus::kernels::{baseline, avx2,
// avx512} and exports one table of function pointers there; NAME.cpp picks a table with
// `pick(baseline::table, avx2::table, avx512::table)`. The code of an _isa.cpp must stay inside an
// anonymous namespace: an inline function or template of external linkage would be merged by the
// linker across instruction sets, and the AVX-512 copy could end up running on a machine without.
#pragma once

namespace gradus::kernels {

enum class Isa { baseline, avx2, avx512 };

// The best set of this processor: x86-64-v4 for avx512, x86-64-v3 for avx2. The environment
// variable GRADUS_ISA (baseline, avx2 or avx512) may lower it; it is read once.
Isa isa();
const char* name_of(Isa isa);

template <class Table>
const Table& pick(const Table& baseline, const Table& avx2, const Table& avx512) {
  const Isa best = isa();
  return best == Isa::avx512 ? avx512 : best == Isa::avx2 ? avx2 : baseline;
}

}  // namespace gradus::kernels
