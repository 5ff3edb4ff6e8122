// Attributes of an op: a plain struct that lists its fields once.
//
//   struct ReduceAttrs {
//     Ints axes;
//     bool keepdims = false;
//     static auto fields() { return attr_fields(attr("axes", &ReduceAttrs::axes),
//                                               attr("keepdims", &ReduceAttrs::keepdims)); }
//   };
//
// From that list come ==, hashing, printing, parsing, keyword arguments and files. Attributes are
// trivially copyable, so a tape or a graph stores them by copying bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "gradus/dtype.h"
#include "gradus/shape.h"

namespace gradus {

class Symbols;
using Ints = Shape;  // a short list of integers: axes, sizes, strides; sizes may be unknown

// Interned text: equal texts are the same pointer, so that attributes stay plain data.
class Text {
 public:
  Text() = default;
  Text(const std::string& text);  // NOLINT: implicit by design
  Text(const char* text) : Text(std::string(text)) {}
  const char* c_str() const { return text_; }
  friend bool operator==(Text a, Text b) { return a.text_ == b.text_; }

 private:
  const char* text_ = "";
};

// Something that attributes refer to, a user's function say. Attributes stay plain data: whoever
// stores their bytes for later also keeps what AttrType::held gives.
class Held : public std::enable_shared_from_this<Held> {
 public:
  virtual ~Held() = default;
  virtual std::string describe() const { return "..."; }  // in printed graphs
};

enum class AttrKind : std::uint8_t {
  boolean,
  integer,
  size,
  real,
  dtype,
  ints,
  text,
  pointer,
  held
};

struct AttrField {
  const char* name;
  AttrKind kind;
  std::uint16_t offset;
  std::uint8_t bytes;  // of an integer
};

struct AttrType {
  std::size_t bytes = 0;
  std::vector<AttrField> fields;
  bool holds = false;  // has a field of kind held, at most one

  bool equal(const void* a, const void* b) const;
  std::uint64_t hash(const void* a) const;
  // "axes=(0, 1), keepdims=True"; sizes that are symbols by their names if these are given.
  std::string print(const void* a, const Symbols* symbols = nullptr) const;
  std::shared_ptr<const Held> held(const void* a) const;
  // The same attributes, which hold another thing.
  std::vector<std::byte> with_held(const void* a, const Held& other) const;
};

std::string in_quotes(
    const std::string& text);  // with what a text in quotation marks needs escaped

template <class M>
constexpr AttrKind attr_kind() {
  if constexpr (std::is_same_v<M, bool>) {
    return AttrKind::boolean;
  } else if constexpr (std::is_same_v<M, DType>) {
    return AttrKind::dtype;
  } else if constexpr (std::is_same_v<M, Size>) {
    return AttrKind::size;
  } else if constexpr (std::is_same_v<M, Ints>) {
    return AttrKind::ints;
  } else if constexpr (std::is_same_v<M, Text>) {
    return AttrKind::text;
  } else if constexpr (std::is_same_v<M, Held*>) {
    return AttrKind::held;
  } else if constexpr (std::is_pointer_v<M>) {
    return AttrKind::pointer;
  } else if constexpr (std::is_floating_point_v<M>) {
    static_assert(sizeof(M) == 8, "use double");
    return AttrKind::real;
  } else {
    static_assert(std::is_integral_v<M> || std::is_enum_v<M>, "not an attribute type");
    return AttrKind::integer;
  }
}

template <class A, class M>
AttrField attr(const char* name, M A::*member) {
  static const A probe{};
  const auto offset =
      reinterpret_cast<const char*>(&(probe.*member)) - reinterpret_cast<const char*>(&probe);
  return {name, attr_kind<M>(), static_cast<std::uint16_t>(offset), sizeof(M)};
}

template <class... F>
std::vector<AttrField> attr_fields(F... fields) {
  return {fields...};
}

// The description of attribute struct A; A = void means no attributes.
template <class A>
const AttrType& attr_type() {
  static const AttrType type = [] {
    if constexpr (std::is_void_v<A>) {
      return AttrType{};
    } else {
      static_assert(std::is_trivially_copyable_v<A>);
      AttrType type{sizeof(A), A::fields()};
      for (const AttrField& f : type.fields) type.holds |= f.kind == AttrKind::held;
      return type;
    }
  }();
  return type;
}

}  // namespace gradus
