#include "agree/program.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "gradus/elementwise.h"

namespace agree {
namespace {

using gradus::DType;
using gradus::Shape;
using gradus::Tensor;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<std::int64_t> sizes_of(const std::string& text) {
  std::vector<std::int64_t> sizes;
  for (const std::string& part : parts_of(text.substr(1, text.size() - 2), ','))
    sizes.push_back(part == "B" ? kBatch : std::stoll(part));
  return sizes;
}

double number_of(const std::string& word) {
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  return std::stod(word);
}

// "in x float64 [B,3] uniform -1 1", or "data" for what no gradient is asked for.
Input input_of(const std::vector<std::string>& words) {
  Input input{.name = words[1],
              .dtype = gradus::dtype_of(words[2]),
              .sizes = sizes_of(words[3]),
              .kind = words[4],
              .numbers = {},
              .differentiable = words[0] == "in"};
  for (std::size_t i = 5; i < words.size(); ++i) input.numbers.push_back(number_of(words[i]));
  return input;
}

Line line_of(const std::vector<std::string>& words) {
  Line line;
  std::size_t at = 0;
  for (; words[at] != "="; ++at) line.results.push_back(words[at]);
  line.function = words[++at];
  for (++at; at < words.size(); ++at) {
    const std::size_t equals = words[at].find('=');
    if (equals == std::string::npos) {
      line.operands.push_back(words[at]);
    } else {
      line.attributes[words[at].substr(0, equals)] = words[at].substr(equals + 1);
    }
  }
  return line;
}

Program header_of(const std::vector<std::string>& words) {
  Program p;
  p.name = words[1];
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i].starts_with("seed=")) {
      p.seed = static_cast<std::uint32_t>(std::stoul(words[i].substr(5)));
    } else {
      p.flags.insert(words[i]);
    }
  }
  return p;
}

Tensor input_tensor(const Input& input, const Shape& shape, std::uint32_t seed) {
  const std::int64_t count = shape.num_elements();
  if (input.kind == "uniform")
    return uniform(input.dtype, shape, seed, input.numbers[0], input.numbers[1]);
  std::vector<double> values;
  for (std::int64_t k = 0; k < count; ++k) {
    const double u = hashed(static_cast<std::uint32_t>(k), seed);
    if (input.kind == "integers") {
      values.push_back(input.numbers[0] + std::floor(u * (input.numbers[1] - input.numbers[0])));
    } else if (input.kind == "bools") {
      values.push_back(u < 0.5);
    } else {
      values.push_back(input.numbers.at(static_cast<std::size_t>(k) % input.numbers.size()));
    }
  }
  return gradus::cast(Tensor::from(values, shape), input.dtype);
}

}  // namespace

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

bool Program::has_batch() const {
  for (const Input& input : inputs)
    if (!input.sizes.empty() && input.sizes[0] == kBatch) return true;
  return false;
}

std::vector<std::size_t> Program::sources() const {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].differentiable) all.push_back(i);
  return all;
}

std::vector<Program> read_programs(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("no file " + path);
  std::vector<Program> programs;
  std::vector<Block*> open;  // the program's body, and functions that are being defined
  for (std::string text; std::getline(file, text);) {
    const std::vector<std::string> words = words_of(text.substr(0, text.find('#')));
    if (words.empty()) continue;
    if (words[0] == "program") {
      programs.push_back(header_of(words));
      open.clear();
    } else if (words[0] == "in" || words[0] == "data") {
      programs.back().inputs.push_back(input_of(words));
    } else {
      if (open.empty()) open.push_back(&programs.back().body);
      if (words[0] == "fn") {
        Line line;
        line.results = {words[1]};
        line.defines = std::make_shared<Block>();
        line.defines->parameters.assign(words.begin() + 2, words.end());
        open.back()->lines.push_back(line);
        open.push_back(line.defines.get());
      } else if (words[0] == "ret" || words[0] == "out") {
        open.back()->results.assign(words.begin() + 1, words.end());
        open.pop_back();
      } else {
        open.back()->lines.push_back(line_of(words));
      }
    }
  }
  return programs;
}

double hashed(std::uint32_t k, std::uint32_t seed) {
  std::uint32_t h = k * 2654435761u + seed * 40503u + 12345u;
  for (int round = 0; round < 2; ++round) {
    h ^= h >> 16;
    h *= 0x45d9f3bu;
  }
  h ^= h >> 16;
  return static_cast<double>(h >> 8) / (1 << 24);
}

Tensor uniform(DType dtype, const Shape& shape, std::uint32_t seed, double low, double high) {
  const bool complex = gradus::is_complex(dtype);
  const std::int64_t count = shape.num_elements();
  std::vector<double> re, im;
  for (std::int64_t k = 0; k < count; ++k) {
    re.push_back(low + (high - low) * hashed(static_cast<std::uint32_t>(k), seed));
    im.push_back(low + (high - low) * hashed(static_cast<std::uint32_t>(k), seed + 500));
  }
  const Tensor real = Tensor::from(re, shape);
  return gradus::cast(complex ? gradus::complex(real, Tensor::from(im, shape)) : real, dtype);
}

std::vector<Tensor> inputs_of(const Program& p, std::int64_t batch, std::uint32_t variant) {
  std::vector<Tensor> all;
  for (std::size_t i = 0; i < p.inputs.size(); ++i) {
    Shape shape;
    for (std::int64_t size : p.inputs[i].sizes) shape.push_back(size == kBatch ? batch : size);
    const auto number = static_cast<std::uint32_t>(i);
    all.push_back(input_tensor(p.inputs[i], shape, p.seed + 7919 * number + 104729 * variant));
  }
  return all;
}

}  // namespace agree
