// Scalar expression programs: the one numeric definition of every elementwise op in Gradus.
//
// A Program is straight-line code in SSA form over one element: instruction i makes value i from
// values with smaller numbers. Running it over `rows x cols` elements is the business of a Kernel
// (kernel.h), which either interprets tiles of elements or executes emitted machine code; both give
// the same bits. A row reduction (reduce_*) combines a value over all columns of a row; what
// depends on its result runs in a later pass over that row (schedule.h).
//
// What every back end agrees on, value by value:
// - Float arithmetic is IEEE, round to nearest even; fma is fused and is used only where the
//   program says fma. The payload and sign of a NaN are not specified.
// - min and max give NaN if either operand is NaN; of two equal operands (0 and -0) the second, or
//   the one that is not a constant.
// - Integers wrap. Division truncates; x / 0 and x rem 0 are 0; the most negative number divided
//   by -1 is itself. A shift by the width or more (or by a negative amount) shifts everything out.
// - float to i32 / i64 truncates; NaN and what does not fit become the most negative number. float
//   to u64 goes through i64 below 2^63, is exact up to 2^64, and is 2^63 otherwise.
// - A value becomes a mask by `!= 0` (NaN is true); a mask becomes a number as 0 or 1.
// - A sum adds 32 interleaved lanes (16 if the program has 64-bit values) over blocks of 4096
//   columns in the value's own type, folds the lanes in a fixed order and adds the blocks of a
//   float sum in float64: the same bits everywhere, error below 135 eps * sum|x| in float32.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "gradus/dtype.h"

namespace gradus::expr {

// Types of values in registers. Storage is wider in choice: int8/16 and uint8/16 compute in i32,
// uint32 in i64, float16 and bfloat16 in f32; a store truncates or rounds.
enum class Type : std::uint8_t { mask, i32, i64, u64, f32, f64 };
inline constexpr int kTypeCount = 6;

constexpr bool is_float(Type t) { return t >= Type::f32; }
constexpr bool is_int(Type t) { return t >= Type::i32 && t <= Type::u64; }
constexpr bool is_wide(Type t) { return t == Type::i64 || t == Type::u64 || t == Type::f64; }
const char* name_of(Type t);
Type type_of(DType t);   // throws InvalidArgumentError for complex dtypes
DType dtype_of(Type t);  // in which values of this type are stored as they are

enum class Code : std::uint8_t {
  input,        // a: port
  constant,     // bits: the value, in the low bytes
  add,          //
  sub,          //
  mul,          //
  div,          //
  rem,          // sign of the dividend, as fmod
  fma,          // a * b + c, rounded once
  neg,          //
  abs,          //
  min,          //
  max,          //
  sqrt,         //
  round,        // to nearest, ties to even
  floor,        //
  ceil,         //
  trunc,        //
  lt,           // comparisons make masks
  le,           //
  eq,           //
  ne,           //
  logical_and,  // of masks
  logical_or,   //
  logical_xor,  //
  logical_not,  //
  select,       // a ? b : c
  keep,         // a ? b : +0
  drop,         // a ? +0 : b
  bit_and,      // of integers, or of the bits of floats
  bit_or,       //
  bit_xor,      //
  bit_not,      //
  shl,          //
  shr,          // zeros come in
  sar,          // the sign comes in
  convert,      // between types, by value
  bitcast,      // between types of one size, by bits
  narrow,       // bits: a DType; the value after a store to and a load from that storage
  assist,       // bits: an Assistant (assist.h); a unless that is NaN, then its value at b and c
  call,         // fn(a, b, c); gone after lower()
  reduce_sum,   // over the columns of a row
  reduce_max,   //
  reduce_min,   //
  reduce_prod,  //
};
const char* name_of(Code c);
constexpr bool is_reduction(Code c) { return c >= Code::reduce_sum; }

struct Fn;  // a named scalar function: fn.h

struct Instr {
  Code code;
  Type type;                          // of the value it makes
  std::uint16_t a = 0, b = 0, c = 0;  // operands: earlier values
  const Fn* fn = nullptr;
  std::uint64_t bits = 0;
  bool operator==(const Instr&) const = default;
};
int operand_count(const Instr&);
constexpr std::uint16_t operand(const Instr& i, int k) { return k == 0 ? i.a : k == 1 ? i.b : i.c; }

struct Port {
  DType dtype;
  bool varies_along_row;  // false: one element per row, the same for all its columns
  bool operator==(const Port&) const = default;
};

struct Output {
  std::uint16_t value;
  DType dtype;
  bool per_row;       // one element per row instead of one per column
  bool adds = false;  // the value is added to what is stored there: over rows in one place, a sum
  bool operator==(const Output&) const = default;
};

// What a kernel takes. A program may have more inputs, and is then put into others, or split.
inline constexpr int kMaxInputs = 16, kMaxOutputs = 8;

struct Program {
  std::vector<Instr> code;
  std::vector<Port> inputs;
  std::vector<Output> outputs;
  bool operator==(const Program&) const = default;
};
std::size_t hash_of(const Program&);
std::string to_string(const Program&);

// Expands every call and rewrites what no machine has (neg, abs, mask conversions, ...) in terms of
// what every machine has. Compiling does this itself.
Program lower(const Program&);

}  // namespace gradus::expr

template <>
struct std::hash<gradus::expr::Program> {
  std::size_t operator()(const gradus::expr::Program& p) const { return gradus::expr::hash_of(p); }
};
