#include "io/npy_header.h"

#include <charconv>
#include <cstring>
#include <limits>

namespace gradus::io {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr std::size_t kMagicSize = 6;
constexpr std::uint32_t kLongestHeader = 1 << 20;
constexpr std::size_t kMostAxes = 64;

struct Kind {
  const char* code;  // without the byte order
  DType dtype;
};
constexpr Kind kKinds[] = {
    {"b1", DType::bool_},   {"i1", DType::int8},      {"i2", DType::int16},
    {"i4", DType::int32},   {"i8", DType::int64},     {"u1", DType::uint8},
    {"u2", DType::uint16},  {"u4", DType::uint32},    {"u8", DType::uint64},
    {"f2", DType::float16}, {"V2", DType::bfloat16},  {"f4", DType::float32},
    {"f8", DType::float64}, {"c8", DType::complex64}, {"c16", DType::complex128},
};

// Reads the one kind of dictionary that is allowed; everything unexpected is damage.
class HeaderParser {
 public:
  HeaderParser(const std::string& text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !has_descr) {
        parse_descr(header);
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        header.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        header.shape = tuple();
        has_shape = true;
      } else {
        damaged("unexpected key '" + key + "'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (at_ != text_.size()) damaged("text after the dictionary");
    if (!has_descr || !has_order || !has_shape) damaged("a key is missing");
    return header;
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    throw DataLossError(name_ + " has a damaged .npy header: " + what);
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) damaged(std::string("'") + c + "' expected at " + std::to_string(at_));
  }
  bool accept(const std::string& word) {
    skip_spaces();
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }
  std::string string() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string::npos) damaged("a string does not end");
    std::string value = text_.substr(at_, end - at_);
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    if (accept("True")) return true;
    if (!accept("False")) damaged("True or False expected at " + std::to_string(at_));
    return false;
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!accept(')')) {
      skip_spaces();
      std::int64_t value = 0;
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
      if (error != std::errc() || value < 0) damaged("a dimension is not a natural number");
      at_ += static_cast<std::size_t>(end - begin);
      accept('L');  // Python 2 wrote long integers so
      values.push_back(value);
      if (values.size() > kMostAxes) damaged("too many dimensions");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }
  void parse_descr(NpyHeader& header) {
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '[')
      throw InvalidArgumentError(name_ +
                                 " holds records with several fields; a tensor has one "
                                 "dtype. Save each field as an array of its own");
    const std::string descr = string();
    const bool has_order = !descr.empty() && std::strchr("<>|=", descr[0]) != nullptr;
    const std::string code = descr.substr(has_order ? 1 : 0);
    for (const Kind& kind : kKinds) {
      if (code != kind.code) continue;
      header.dtype = kind.dtype;
      header.big_endian = descr[0] == '>';
      return;
    }
    throw InvalidArgumentError(name_ + " holds elements of the NumPy type '" + descr +
                               "', which no tensor can hold; expected booleans, integers, floats "
                               "up to 64 bits or complex numbers up to 128 bits");
  }

  const std::string& text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

}  // namespace

std::uint64_t data_bytes(const NpyHeader& header) {
  std::uint64_t bytes = size_of(header.dtype);
  for (const std::int64_t d : header.shape) bytes *= static_cast<std::uint64_t>(d);
  return bytes;
}

NpyHeader read_npy_header(ByteSource& source) {
  unsigned char start[8];
  if (source.remaining() < 10) throw DataLossError(source.name() + " is too short for a .npy file");
  source.read(start, sizeof start);
  if (std::memcmp(start, kMagic, kMagicSize) != 0)
    throw DataLossError(source.name() + " is not a .npy file: it does not start with \\x93NUMPY");
  const int version = start[6];
  if (version < 1 || version > 3)
    throw DataLossError(source.name() + " has version " + std::to_string(version) +
                        " of the .npy format; known are 1 to 3");
  unsigned char size[4] = {};
  source.read(size, version == 1 ? 2 : 4);
  const std::uint32_t length =
      size[0] | size[1] << 8 | size[2] << 16 | std::uint32_t{size[3]} << 24;
  if (length > kLongestHeader || length > source.remaining())
    throw DataLossError(source.name() + " has a damaged .npy header: its length is " +
                        std::to_string(length));
  std::string text(length, '\0');
  source.read(text.data(), length);
  NpyHeader header = HeaderParser(text, source.name()).parse();

  // A product of 64-bit numbers may overflow, also where a later factor is 0.
  bool empty = false;
  for (const std::int64_t d : header.shape) empty |= d == 0;
  std::uint64_t room = source.remaining() / size_of(header.dtype);
  for (const std::int64_t d : header.shape)
    room = d == 0 ? 0 : room / static_cast<std::uint64_t>(d);
  if (!empty && room == 0)
    throw DataLossError(source.name() +
                        " ends too early: its header describes more data than the " +
                        std::to_string(source.remaining()) + " bytes that follow");
  return header;
}

std::string npy_header_text(DType dtype, const std::vector<std::int64_t>& shape) {
  std::string descr;
  for (const Kind& kind : kKinds)
    if (kind.dtype == dtype) descr = (size_of(dtype) == 1 ? "|" : "<") + std::string(kind.code);
  std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  text += shape.size() == 1 ? ",), }" : "), }";
  const std::size_t before = kMagicSize + 4;  // magic, version, length
  text.append((64 - (before + text.size() + 1) % 64) % 64, ' ');
  text += '\n';
  std::string header(kMagic, kMagicSize);
  header +=
      {'\1', '\0', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace gradus::io
