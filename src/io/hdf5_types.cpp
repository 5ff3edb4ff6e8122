// Bytes, fields, element types and shapes of HDF5 files.
#include <algorithm>
#include <limits>

#include "io/hdf5_format.h"

namespace gradus::io {

void Hdf5Input::damaged(const std::string& why) const {
  throw DataLossError(name_ + " is damaged: " + why);
}
void Hdf5Input::unknown(const std::string& what) const {
  throw UnimplementedError(name_ + " uses " + what + ", which is not known here");
}

void Hdf5Input::read(std::uint64_t address, void* to, std::uint64_t bytes) const {
  if (address > size_ || base_ > size_ - address || bytes > size_ - address - base_)
    damaged("it is cut off, or something in it points outside of it");
  read_at(address + base_, to, bytes);
}
Hdf5Bytes Hdf5Input::read(std::uint64_t address, std::uint64_t bytes) const {
  if (bytes > size_) damaged("a part of it claims to be larger than the file");
  Hdf5Bytes made(bytes);
  read(address, made.data(), bytes);
  return made;
}

std::uint64_t Hdf5Cursor::number(int bytes) {
  const Hdf5View field = take(static_cast<std::uint64_t>(bytes));
  std::uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i) value = value << 8 | field[static_cast<std::size_t>(i)];
  return value;
}
Hdf5View Hdf5Cursor::take(std::uint64_t bytes) {
  if (bytes > left()) input_.damaged("a field is cut off");
  const Hdf5View taken = bytes_.subspan(at_, bytes);
  at_ += bytes;
  return taken;
}
std::string Hdf5Cursor::text() {
  const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(at_);
  const auto end = std::find(begin, bytes_.end(), 0);
  if (end == bytes_.end()) input_.damaged("a name has no end");
  at_ += static_cast<std::size_t>(end - begin) + 1;
  return {begin, end};
}
void Hdf5Cursor::expect(const char* signature, const char* what) {
  const Hdf5View found = take(4);
  if (!std::equal(found.begin(), found.end(), signature))
    input_.damaged(std::string(what) + " is not where it should be");
}

namespace {

DType integer_type(const Hdf5Input& input, std::uint64_t size, bool has_sign) {
  switch (size) {
    case 1:
      return has_sign ? DType::int8 : DType::uint8;
    case 2:
      return has_sign ? DType::int16 : DType::uint16;
    case 4:
      return has_sign ? DType::int32 : DType::uint32;
    case 8:
      return has_sign ? DType::int64 : DType::uint64;
    default:
      input.unknown("integers of " + std::to_string(size) + " bytes");
  }
}

// IEEE formats only: sign, exponent and mantissa where they stand in float16, float32 or float64.
Hdf5Type float_type(Hdf5Cursor& cursor, Hdf5Type type, std::uint64_t bits) {
  const std::uint64_t sign = bits >> 8 & 0xff;
  cursor.skip(4);  // offset and precision
  const std::uint64_t exponent_at = cursor.number(1), exponent = cursor.number(1);
  const std::uint64_t mantissa_at = cursor.number(1), mantissa = cursor.number(1);
  const auto is = [&](std::uint64_t size, std::uint64_t of_exponent, std::uint64_t of_mantissa) {
    return type.size == size && exponent == of_exponent && mantissa == of_mantissa &&
           mantissa_at == 0 && exponent_at == mantissa && sign == 8 * size - 1;
  };
  type.kind = Hdf5Type::Kind::number;
  if (is(2, 5, 10))
    type.dtype = DType::float16;
  else if (is(2, 8, 7))
    type.dtype = DType::bfloat16;
  else if (is(4, 8, 23))
    type.dtype = DType::float32;
  else if (is(8, 11, 52))
    type.dtype = DType::float64;
  else
    cursor.input().unknown("floating-point numbers that are not IEEE's");
  return type;
}

}  // namespace

Hdf5Type read_type(Hdf5Cursor cursor) {
  enum Class { fixed, floating, time, text, bits_, opaque, compound, reference, enumeration, vlen };
  const std::uint64_t head = cursor.number(1), bits = cursor.number(3);
  Hdf5Type type;
  type.size = cursor.number(4);
  type.big_endian = bits & 1;
  if (type.size == 0) cursor.input().damaged("elements without a size");
  switch (head & 0xf) {
    case fixed:
      type.kind = Hdf5Type::Kind::number;
      type.dtype = integer_type(cursor.input(), type.size, bits & 8);
      break;
    case floating:
      return float_type(cursor, type, bits);
    case text:
      type.kind = Hdf5Type::Kind::fixed_text;
      break;
    case opaque:
      type.kind = Hdf5Type::Kind::opaque;
      type.what = "opaque elements";
      break;
    case enumeration:  // h5py's bool is an enumeration of two values in one byte
      type.kind = Hdf5Type::Kind::number;
      type.dtype = type.size == 1 && (bits & 0xffff) == 2
                       ? DType::bool_
                       : integer_type(cursor.input(), type.size, true);
      type.big_endian = false;
      break;
    case vlen:
      if ((bits & 0xf) != 1) {
        type.what = "sequences of varying length";
        break;
      }
      if (type.size != 16) cursor.input().damaged("text of an odd kind");
      type.kind = Hdf5Type::Kind::variable_text;
      break;
    case compound:
      type.what = "compound elements (complex numbers or records)";
      break;
    default:
      type.what = "elements of class " + std::to_string(head & 0xf);
  }
  return type;
}

Hdf5Space read_space(Hdf5Cursor cursor) {
  const std::uint64_t version = cursor.number(1), rank = cursor.number(1);
  Hdf5Space space;
  cursor.skip(1);  // flags: whether the largest sizes follow, which do not matter here
  if (version == 1) {
    cursor.skip(5);
    space.scalar = rank == 0;
  } else if (version == 2) {
    const std::uint64_t kind = cursor.number(1);
    space.scalar = kind == 0;
    space.empty = kind == 2;
  } else {
    cursor.input().unknown("a version of shapes");
  }
  if (rank > 32) cursor.input().damaged("a shape of more than 32 axes");
  for (std::uint64_t i = 0; i < rank; ++i) {
    const std::uint64_t size = cursor.number(8);
    if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      cursor.input().damaged("an axis of impossible size");
    space.shape.push_back(static_cast<std::int64_t>(size));
  }
  return space;
}

std::uint64_t bytes_of(const Hdf5Input& input, const Hdf5Type& type, const Hdf5Space& space) {
  if (space.empty) return 0;
  if (std::find(space.shape.begin(), space.shape.end(), 0) != space.shape.end()) return 0;
  std::uint64_t bytes = type.size;
  for (const std::int64_t size : space.shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes) || bytes >> 62)
      input.damaged("a shape of impossible size");
  return bytes;
}

}  // namespace gradus::io
