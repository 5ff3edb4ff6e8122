#include "graph/attrs.h"

#include <charconv>
#include <cstring>
#include <mutex>
#include <sstream>
#include <unordered_set>

#include "base/hash.h"
#include "graph/symbols.h"

namespace gradus {
namespace {

template <class T>
const T& read(const void* attrs, const AttrField& field) {
  return *reinterpret_cast<const T*>(static_cast<const char*>(attrs) + field.offset);
}

std::int64_t read_integer(const void* attrs, const AttrField& field) {
  switch (field.bytes) {
    case 1:
      return read<std::int8_t>(attrs, field);
    case 2:
      return read<std::int16_t>(attrs, field);
    case 4:
      return read<std::int32_t>(attrs, field);
    default:
      return read<std::int64_t>(attrs, field);
  }
}

// A field as one number that is equal exactly when the values are, except for lists.
std::uint64_t word_of(const void* attrs, const AttrField& field) {
  switch (field.kind) {
    case AttrKind::boolean:
      return read<bool>(attrs, field);
    case AttrKind::integer:
      return static_cast<std::uint64_t>(read_integer(attrs, field));
    case AttrKind::dtype:
      return static_cast<std::uint64_t>(read<DType>(attrs, field));
    default: {
      std::uint64_t bits;
      std::memcpy(&bits, static_cast<const char*>(attrs) + field.offset, 8);
      return bits;
    }
  }
}

// The fewest digits that give the same number again.
std::string shortest(double x) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}

}  // namespace

std::string in_quotes(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return result + '"';
}

Text::Text(const std::string& text) {
  static std::mutex mutex;
  static auto* texts = new std::unordered_set<std::string>;  // outlives every static op
  const std::lock_guard lock(mutex);
  text_ = texts->insert(text).first->c_str();
}

bool AttrType::equal(const void* a, const void* b) const {
  for (const AttrField& f : fields) {
    if (f.kind == AttrKind::ints ? !is_same(read<Ints>(a, f), read<Ints>(b, f))
                                 : word_of(a, f) != word_of(b, f)) {
      return false;
    }
  }
  return true;
}

std::uint64_t AttrType::hash(const void* a) const {
  std::uint64_t h = bytes;
  for (const AttrField& f : fields) {
    if (f.kind == AttrKind::ints) {
      h = hash_mix(h, static_cast<std::uint64_t>(read<Ints>(a, f).rank()));
      for (const Size x : read<Ints>(a, f)) h = hash_mix(h, x.hash());
    } else {
      h = hash_mix(h, word_of(a, f));
    }
  }
  return h;
}

std::shared_ptr<const Held> AttrType::held(const void* a) const {
  for (const AttrField& f : fields)
    if (f.kind == AttrKind::held) return read<Held*>(a, f)->shared_from_this();
  return nullptr;
}

std::vector<std::byte> AttrType::with_held(const void* a, const Held& other) const {
  std::vector<std::byte> attrs(bytes);
  std::memcpy(attrs.data(), a, bytes);
  const Held* const pointer = &other;
  for (const AttrField& f : fields)
    if (f.kind == AttrKind::held) std::memcpy(attrs.data() + f.offset, &pointer, sizeof pointer);
  return attrs;
}

std::string AttrType::print(const void* a, const Symbols* symbols) const {
  std::ostringstream text;
  for (const AttrField& f : fields) {
    if (&f != fields.data()) text << ", ";
    text << f.name << '=';
    switch (f.kind) {
      case AttrKind::boolean:
        text << (read<bool>(a, f) ? "True" : "False");
        break;
      case AttrKind::integer:
        text << read_integer(a, f);
        break;
      case AttrKind::size:
        text << (symbols ? symbols->print(read<Size>(a, f)) : to_string(read<Size>(a, f)));
        break;
      case AttrKind::real:
        text << shortest(read<double>(a, f));
        break;
      case AttrKind::dtype:
        text << name_of(read<DType>(a, f));
        break;
      case AttrKind::ints:
        if (symbols) {
          text << print_shape(read<Ints>(a, f), *symbols);
        } else {
          text << read<Ints>(a, f);
        }
        break;
      case AttrKind::text:
        text << in_quotes(read<Text>(a, f).c_str());
        break;
      case AttrKind::pointer:
        text << read<const void*>(a, f);
        break;
      case AttrKind::held:
        text << read<Held*>(a, f)->describe();
        break;
    }
  }
  return text.str();
}

}  // namespace gradus
