#include "expr/program.h"

#include <bit>
#include <sstream>

#include "base/check.h"
#include "expr/fn.h"

namespace gradus::expr {
namespace {

constexpr const char* kTypeNames[kTypeCount] = {"mask", "i32", "i64", "u64", "f32", "f64"};

constexpr const char* kCodeNames[] = {
    "input",       "constant",   "add",         "sub",         "mul",    "div",        "rem",
    "fma",         "neg",        "abs",         "min",         "max",    "sqrt",       "round",
    "floor",       "ceil",       "trunc",       "lt",          "le",     "eq",         "ne",
    "logical_and", "logical_or", "logical_xor", "logical_not", "select", "keep",       "drop",
    "bit_and",     "bit_or",     "bit_xor",     "bit_not",     "shl",    "shr",        "sar",
    "convert",     "bitcast",    "narrow",      "assist",      "call",   "reduce_sum", "reduce_max",
    "reduce_min",  "reduce_prod"};
static_assert(std::size(kCodeNames) == static_cast<int>(Code::reduce_prod) + 1);

void mix(std::size_t& h, std::uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15ull;
  h ^= h >> 29;
}

void print_constant(std::ostream& out, Type type, std::uint64_t bits) {
  switch (type) {
    case Type::f32:
      out << std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      break;
    case Type::f64:
      out << std::bit_cast<double>(bits);
      break;
    case Type::i32:
      out << static_cast<std::int32_t>(bits);
      break;
    case Type::i64:
      out << static_cast<std::int64_t>(bits);
      break;
    default:
      out << bits;
  }
}

}  // namespace

const char* name_of(Type t) { return kTypeNames[static_cast<int>(t)]; }
const char* name_of(Code c) { return kCodeNames[static_cast<int>(c)]; }

Type type_of(DType t) {
  switch (t) {
    case DType::bool_:
      return Type::mask;
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::uint8:
    case DType::uint16:
      return Type::i32;
    case DType::int64:
    case DType::uint32:
      return Type::i64;
    case DType::uint64:
      return Type::u64;
    case DType::float16:
    case DType::bfloat16:
    case DType::float32:
      return Type::f32;
    case DType::float64:
      return Type::f64;
    default:
      fail<InvalidArgumentError>("[expr] got dtype ", name_of(t),
                                 "; scalar programs compute on bool, integers and real floats; "
                                 "split a complex value into its real and imaginary parts");
  }
}

DType dtype_of(Type t) {
  constexpr DType kStored[kTypeCount] = {bool_, int32, int64, uint64, float32, float64};
  return kStored[static_cast<int>(t)];
}

int operand_count(const Instr& i) {
  switch (i.code) {
    case Code::input:
    case Code::constant:
      return 0;
    case Code::neg:
    case Code::abs:
    case Code::sqrt:
    case Code::round:
    case Code::floor:
    case Code::ceil:
    case Code::trunc:
    case Code::logical_not:
    case Code::bit_not:
    case Code::convert:
    case Code::bitcast:
    case Code::narrow:
    case Code::reduce_sum:
    case Code::reduce_max:
    case Code::reduce_min:
    case Code::reduce_prod:
      return 1;
    case Code::fma:
    case Code::select:
    case Code::assist:
      return 3;
    case Code::call:
      return i.fn->arity;
    default:
      return 2;
  }
}

std::size_t hash_of(const Program& p) {
  std::size_t h = p.code.size();
  for (const Instr& i : p.code) {
    mix(h, static_cast<std::uint64_t>(i.code) << 56 | static_cast<std::uint64_t>(i.type) << 48 |
               std::uint64_t{i.a} << 32 | std::uint64_t{i.b} << 16 | i.c);
    mix(h, i.bits ^ reinterpret_cast<std::uintptr_t>(i.fn));
  }
  for (const Port& port : p.inputs)
    mix(h, static_cast<std::uint64_t>(port.dtype) << 1 | port.varies_along_row);
  for (const Output& out : p.outputs)
    mix(h, std::uint64_t{out.value} << 16 | static_cast<std::uint64_t>(out.dtype) << 2 |
               std::uint64_t{out.adds} << 1 | out.per_row);
  return h;
}

std::string to_string(const Program& p) {
  std::ostringstream out;
  for (std::size_t v = 0; v < p.code.size(); ++v) {
    const Instr& i = p.code[v];
    out << '%' << v << " = " << (i.code == Code::call ? i.fn->name : name_of(i.code)) << '.'
        << name_of(i.type);
    if (i.code == Code::input) {
      const Port& port = p.inputs[i.a];
      out << ' ' << i.a << ' ' << gradus::name_of(port.dtype)
          << (port.varies_along_row ? "" : " per row");
    } else if (i.code == Code::constant) {
      print_constant(out << ' ', i.type, i.bits);
    }
    for (int k = 0; k < operand_count(i); ++k) out << " %" << operand(i, k);
    if (i.code == Code::assist) out << " assistant " << i.bits;
    if (i.code == Code::narrow) out << ' ' << gradus::name_of(static_cast<DType>(i.bits));
    out << '\n';
  }
  for (const Output& o : p.outputs)
    out << "output %" << o.value << ' ' << gradus::name_of(o.dtype) << (o.per_row ? " per row" : "")
        << (o.adds ? " added" : "") << '\n';
  return out.str();
}

}  // namespace gradus::expr
