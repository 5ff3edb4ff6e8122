#include "graph/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <sstream>
#include <unordered_map>

#include "base/check.h"
#include "graph/elementwise.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

constexpr std::int64_t kInText = 16;  // elements of a constant
constexpr int kDeepest = 50;          // what reads itself recursively ends here

template <class T>
std::string elements(const Tensor& t) {
  std::string text;
  for (std::int64_t i = 0; i < t.num_elements(); ++i) {
    T x;
    std::memcpy(&x, static_cast<const char*>(t.raw_data()) + i * std::int64_t{sizeof(T)}, sizeof x);
    char digits[40];
    text +=
        (i > 0 ? ", " : "") + std::string(digits, std::to_chars(digits, std::end(digits), x).ptr);
  }
  return text;
}

// The elements, if they are of a kind that text holds exactly.
std::string words_of(const Tensor& t) {
  switch (t.dtype()) {
    case bool_: {
      std::string text;
      for (std::int64_t i = 0; i < t.num_elements(); ++i)
        text += std::string(i > 0 ? ", " : "") + (t.data<bool>()[i] ? "True" : "False");
      return text;
    }
    case int32:
      return elements<std::int32_t>(t);
    case int64:
      return elements<std::int64_t>(t);
    case float32:
      return elements<float>(t);
    case float64:
      return elements<double>(t);
    default:
      return {};
  }
}

// Ops that the engine derives are in no list, because they are made when first asked for: their
// names say from what ("tanh.vjp0.jvp3", and "pow.jvp3.vjp0.f32part2" for a piece of a wide one;
// graph/elementwise.h). Null if there is no such op.
const Op* find_record(std::string_view name, int order = 0);

// The number behind a word at the end of a name, -1 if it does not end so.
std::int64_t number_after(std::string_view ending, std::string_view word) {
  std::uint32_t number = 0;
  if (!ending.starts_with(word)) return -1;
  const char* end = ending.data() + ending.size();
  const auto [after, error] = std::from_chars(ending.data() + word.size(), end, number);
  return error == std::errc() && after == end ? number : -1;
}

const ElementwiseRule::Derived* find_derived(std::string_view name, int order) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || order == kDeepest) return nullptr;
  const std::string_view ending = name.substr(dot + 1);
  const std::int64_t input = number_after(ending, "vjp"), inputs = number_after(ending, "jvp");
  if (input < 0 && inputs < 0) return nullptr;
  const Op* base = find_record(name.substr(0, dot), order + 1);
  const ElementwiseRule* rule = base ? base->elementwise.get() : nullptr;
  if (!rule || rule->makes_bool) return nullptr;
  if (input >= 0) return input < rule->arity ? &rule->vjp(*base, static_cast<int>(input)) : nullptr;
  if (inputs == 0 || (rule->arity < 32 && inputs >> rule->arity != 0) ||
      (inputs & rule->bool_inputs))
    return nullptr;
  return &rule->jvp(*base, static_cast<std::uint32_t>(inputs));
}

const Op* find_record(std::string_view name, int order) {
  for (const Op* list : {newest_op(), newest_of_engine()})
    for (const Op* op = list; op; op = op->next)
      if (name == op->name()) return op;
  if (const ElementwiseRule::Derived* d = find_derived(name, order)) return d->op.get();
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return nullptr;
  const std::string_view ending = name.substr(dot + 1);
  const std::int64_t f = number_after(ending, "f32part"), d = number_after(ending, "f64part");
  const ElementwiseRule::Derived* wide =
      f >= 0 || d >= 0 ? find_derived(name.substr(0, dot), order) : nullptr;
  if (!wide) return nullptr;
  const auto& pieces = f >= 0 ? wide->float_pieces : wide->double_pieces;
  const auto k = static_cast<std::size_t>(std::max(f, d));
  return k < pieces.size() ? pieces[k].op.get() : nullptr;
}

}  // namespace

std::string Graph::describe(Value v) const {
  const Aval& aval = values_[v].aval;
  return std::string(name_of(aval.dtype)) + " " + print_shape(aval.shape, symbols());
}

std::string Graph::print() const { return to_text(*this); }

std::string to_text(const Graph& graph, std::vector<Tensor>* constants) {
  // Regions are written by the ops that hold them; their constants go into the same list.
  static constinit thread_local std::vector<Tensor>* collecting = nullptr;
  struct Collecting {
    std::vector<Tensor>* before;
    ~Collecting() { collecting = before; }
  } const scope{collecting};
  if (constants) collecting = constants;
  constants = collecting;
  std::ostringstream text;
  for (Graph::Value v : graph.inputs())
    text << '%' << v << " = input : " << graph.describe(v) << '\n';
  for (Graph::Value v = 0; v < graph.value_count(); ++v) {
    const Tensor& constant = graph.info(v).constant;
    if (!constant.defined()) continue;
    const bool is_small = is_concrete(constant) && constant.num_elements() <= kInText;
    std::string words = is_small ? words_of(constant) : "";
    if (words.empty() && constants && is_concrete(constant)) {
      const auto known = std::ranges::find_if(
          *constants, [&](const Tensor& t) { return t.impl() == constant.impl(); });
      words = "@" + std::to_string(known - constants->begin());
      if (known == constants->end()) constants->push_back(constant);
    }
    if (words.empty()) words = "...";
    text << '%' << v << " = constant(" << words << ") : " << graph.describe(v) << '\n';
  }
  for (const Graph::Node& n : graph.nodes()) {
    for (std::uint32_t i = 0; i < n.out_count; ++i) text << (i ? ", %" : "%") << n.first_out + i;
    text << (n.out_count > 0 ? " = " : "= ") << n.op->name() << '(';
    const auto in = graph.operands(n);
    for (std::size_t i = 0; i < in.size(); ++i) text << (i ? ", %" : "%") << in[i];
    if (!n.op->attrs().fields.empty()) {
      text << (in.empty() ? "" : ", ") << n.op->attrs().print(graph.attrs(n), &graph.symbols());
    }
    text << ")" << (n.out_count > 0 ? " :" : "");
    for (std::uint32_t i = 0; i < n.out_count; ++i)
      text << (i ? ", " : " ") << graph.describe(n.first_out + i);
    text << '\n';
  }
  text << "return";
  for (std::size_t i = 0; i < graph.outputs().size(); ++i)
    text << (i ? ", %" : " %") << graph.outputs()[i];
  text << '\n';
  return text.str();
}

std::shared_ptr<Graph> from_text(std::string_view text, const std::vector<Tensor>& constants) {
  auto graph = Graph::make();
  TextReader reader(text, constants);
  reader.graph(*graph);
  if (!reader.at_end()) reader.refuse("there is more after 'return'");
  return graph;
}

void TextReader::refuse(const std::string& why) const {
  const auto line =
      1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
  const std::size_t begin = text_.rfind('\n', at_ == 0 ? 0 : at_ - 1);
  const std::size_t first = begin == std::string_view::npos || at_ == 0 ? 0 : begin + 1;
  fail<InvalidArgumentError>("[graph text] line ", line, ": ", why, "\n  ",
                             std::string(text_.substr(first, text_.find('\n', at_) - first)));
}

void TextReader::skip() {
  while (at_ < text_.size()) {
    if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
      ++at_;
    } else {
      return;
    }
  }
}

bool TextReader::at_end() {
  skip();
  return at_ == text_.size();
}

bool TextReader::accept(std::string_view word) {
  skip();
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

void TextReader::expect(std::string_view word) {
  if (!accept(word)) refuse("expected '" + std::string(word) + "'");
}

std::string TextReader::name() {
  skip();
  const std::size_t start = at_;
  while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                text_[at_] == '_' || text_[at_] == '.'))
    ++at_;
  if (at_ == start) refuse("expected a name");
  return std::string(text_.substr(start, at_ - start));
}

std::string TextReader::quoted() {
  expect("\"");
  std::string result;
  while (at_ < text_.size() && text_[at_] != '"') {
    char c = text_[at_++];
    if (c == '\\' && at_ < text_.size()) {
      c = text_[at_++];
      if (c == 'n') c = '\n';
    }
    result += c;
  }
  if (at_ == text_.size()) refuse("the quotation mark is not closed");
  ++at_;
  return result;
}

std::int64_t TextReader::integer() {
  skip();
  std::int64_t x = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), x);
  if (error != std::errc()) refuse("expected an integer");
  at_ = static_cast<std::size_t>(end - text_.data());
  return x;
}

template <class T>
T TextReader::real() {
  skip();
  T x = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), x);
  if (error != std::errc()) refuse("expected a number");
  at_ = static_cast<std::size_t>(end - text_.data());
  return x;
}

Size TextReader::product(Symbols& symbols) {
  Size result = 0;
  bool first = true;
  do {
    Size factor;
    if (accept("(")) {
      if (++depth_ > kDeepest) refuse("too many brackets");
      factor = size(symbols);
      expect(")");
      if (accept("//")) {
        expect("(");
        const Size by = size(symbols);
        if (is_same(by, 0)) refuse("a size is divided by zero");
        factor = symbols.floor_divide(factor, by);
        expect(")");
      }
      --depth_;
    } else if (accept("s")) {
      const std::int64_t number = integer();
      // A text cannot ask for more symbols than it has letters.
      if (number < 0 || number > static_cast<std::int64_t>(text_.size())) refuse("no such symbol");
      while (static_cast<std::int64_t>(symbols.input_count()) <= number) symbols.fresh();
      factor = symbols.name_of_input(static_cast<std::size_t>(number));
    } else {
      factor = integer();
    }
    result = first ? factor : symbols.multiply(result, factor);
    first = false;
  } while (accept("*"));
  return result;
}

Size TextReader::size(Symbols& symbols) {
  Size result = product(symbols);
  while (accept("+ ")) result = symbols.add(result, product(symbols));
  return result;
}

DType TextReader::dtype() {
  const std::string word = name();
  for (int i = 0; i <= static_cast<int>(complex128); ++i)
    if (word == name_of(static_cast<DType>(i))) return static_cast<DType>(i);
  refuse("'" + word + "' is no dtype");
}

Shape TextReader::shape(Symbols& symbols) {
  expect("(");
  Shape result;
  while (!accept(")")) {
    result.push_back(size(symbols));
    if (!accept(",")) {
      expect(")");
      break;
    }
  }
  return result;
}

Aval TextReader::aval(Symbols& symbols) {
  const DType type = dtype();
  return {type, shape(symbols)};
}

Tensor TextReader::constant(const Aval& aval, std::string_view words) {
  TextReader elements(words, constants_);
  if (elements.accept("@")) {
    const std::int64_t i = elements.integer();
    if (i < 0 || i >= static_cast<std::int64_t>(constants_.size())) refuse("no such constant");
    const Tensor& t = constants_[static_cast<std::size_t>(i)];
    if (t.dtype() != aval.dtype || !(t.shape() == aval.shape))
      refuse("the constant has another dtype or shape");
    return t;
  }
  if (!aval.shape.is_known() || num_elements(aval.shape) > kInText)
    refuse("the elements of a constant of this size do not stand in the text");
  Tensor t = make_tensor(aval.dtype, aval.shape);
  auto* data = static_cast<char*>(t.impl()->data);
  const auto put = [&](auto x, std::int64_t i) {
    std::memcpy(data + i * std::int64_t{sizeof x}, &x, sizeof x);
  };
  for (std::int64_t i = 0; i < t.num_elements(); ++i) {
    if (i > 0) elements.expect(",");
    switch (aval.dtype) {
      case bool_:
        put(elements.accept("True"), i);
        if (data[i] == 0) elements.expect("False");
        break;
      case int32: {
        const std::int64_t x = elements.integer();
        if (x != static_cast<std::int32_t>(x)) refuse("an element does not fit into int32");
        put(static_cast<std::int32_t>(x), i);
        break;
      }
      case int64:
        put(elements.integer(), i);
        break;
      case float32:
        put(elements.real<float>(), i);
        break;
      case float64:
        put(elements.real<double>(), i);
        break;
      default:
        refuse("constants of this dtype do not stand in the text");
    }
  }
  if (!elements.at_end()) refuse("more elements than the shape has");
  return t;
}

std::string_view TextReader::balanced() {
  const std::size_t start = at_;
  for (int depth = 1; at_ < text_.size(); ++at_) {
    depth += text_[at_] == '(' ? 1 : text_[at_] == ')' ? -1 : 0;
    if (depth == 0) {
      ++at_;
      return text_.substr(start, at_ - 1 - start);
    }
  }
  refuse("a bracket is not closed");
}

// What the values of the text are called in the graph.
struct TextReader::Names {
  std::unordered_map<std::string, Graph::Value> values;
};

// What nodes of one graph hold that reads the same is one thing: a derivative knows its loop by it.
std::shared_ptr<Held> TextReader::read_held(const Op& op, Graph& into) {
  skip();
  const std::size_t start = at_;
  std::shared_ptr<Held> read = op.info.read_held(*this, into);
  for (const Known& k : known_)
    if (k.graph == into.level() && k.reader == op.info.read_held &&
        k.text == text_.substr(start, at_ - start))
      return k.held;
  known_.push_back({into.level(), op.info.read_held, text_.substr(start, at_ - start), read});
  return read;
}

std::string TextReader::attribute(Graph& into, const Op& op, std::byte* attrs,
                                  std::vector<std::shared_ptr<Held>>& held) {
  const std::string key = name();
  expect("=");
  const auto& fields = op.attrs().fields;
  const auto f = std::ranges::find_if(fields, [&](const AttrField& f) { return key == f.name; });
  if (f == fields.end()) refuse(std::string(op.name()) + " has no attribute '" + key + "'");
  std::byte* at = attrs + f->offset;
  switch (f->kind) {
    case AttrKind::boolean:
      *reinterpret_cast<bool*>(at) = accept("True");
      if (!*reinterpret_cast<bool*>(at)) expect("False");
      break;
    case AttrKind::integer: {
      const std::int64_t x = integer();
      const std::int64_t limit = std::int64_t{1} << (f->bytes == 8 ? 62 : 8 * f->bytes - 1);
      if (f->bytes < 8 && (x < -limit || x >= limit)) refuse("the number is too large for " + key);
      std::memcpy(at, &x, f->bytes);  // little-endian, as everything here
      break;
    }
    case AttrKind::size:
      *reinterpret_cast<Size*>(at) = size(into.symbols());
      break;
    case AttrKind::real:
      *reinterpret_cast<double*>(at) = real<double>();
      break;
    case AttrKind::dtype:
      *reinterpret_cast<DType*>(at) = dtype();
      break;
    case AttrKind::ints:
      *reinterpret_cast<Ints*>(at) = shape(into.symbols());
      break;
    case AttrKind::text:
      *reinterpret_cast<Text*>(at) = Text(quoted());
      break;
    case AttrKind::held:
      if (!op.info.read_held) refuse(std::string("what ") + op.name() + " holds cannot be read");
      held.push_back(read_held(op, into));
      *reinterpret_cast<Held**>(at) = held.back().get();
      break;
    case AttrKind::pointer:
      refuse(std::string("what ") + op.name() + " points to cannot be read");
  }
  return key;
}

void TextReader::node(Graph& into, Names& names, const std::vector<std::string>& results) {
  const std::string word = name();
  if (word == "input") {
    if (results.size() != 1) refuse("an input is one value");
    expect(":");
    names.values[results[0]] = into.add_input(aval(into.symbols()));
    return;
  }
  expect("(");
  if (word == "constant") {
    if (results.size() != 1) refuse("a constant is one value");
    const std::string_view words = balanced();
    expect(":");
    const Aval type = aval(into.symbols());
    names.values[results[0]] = into.add_constant(constant(type, words));
    return;
  }
  const Op* op = find_record(word);
  if (!op) refuse("there is no op '" + word + "'");
  std::vector<Graph::Value> in;
  std::vector<std::shared_ptr<Held>> held;
  alignas(16) std::byte attrs[512] = {};
  GRADUS_ASSERT(op->attrs().bytes <= sizeof attrs);
  std::vector<std::string> keys;
  while (!accept(")")) {
    if (!in.empty() || !keys.empty()) expect(",");
    if (accept("%")) {
      const auto found = names.values.find(name());
      if (found == names.values.end()) refuse("an operand is not known yet");
      in.push_back(found->second);
    } else {
      keys.push_back(attribute(into, *op, attrs, held));
      if (std::ranges::count(keys, keys.back()) > 1) refuse(keys.back() + " is given twice");
    }
  }
  if (keys.size() != op->attrs().fields.size())
    refuse(word + " has " + std::to_string(op->attrs().fields.size()) +
           " attributes; all are needed");
  const int inputs = op->info.inputs;
  if (inputs >= 0 ? in.size() != static_cast<std::size_t>(inputs) : inputs == -1 && in.empty())
    refuse(word + " takes another number of operands");
  if (op->info.renumber) op->info.renumber(attrs, renumbered_, Renumber::anew);
  const Graph::Node node = into.add(*op, attrs, in);
  if (node.out_count != results.size())
    refuse(word + " has " + std::to_string(node.out_count) + " results");
  for (std::uint32_t i = 0; i < node.out_count; ++i) {
    expect(i == 0 ? ":" : ",");
    const Aval stated = aval(into.symbols()), &is = into.info(node.first_out + i).aval;
    if (stated.dtype != is.dtype || !is_same(stated.shape, is.shape))
      refuse("the result is " + into.describe(node.first_out + i));
    names.values[results[i]] = node.first_out + i;
  }
}

void TextReader::graph(Graph& into) {
  if (++depth_ > kDeepest) refuse("too many graphs within graphs");
  const TraceScope scope(into);
  Names names;
  while (!accept("return")) {
    std::vector<std::string> results;
    while (!accept("=")) {
      if (at_end()) refuse("the 'return' line is missing");
      if (!results.empty()) expect(",");
      expect("%");
      results.push_back(name());
      if (names.values.contains(results.back())) refuse("%" + results.back() + " is there already");
    }
    node(into, names, results);
  }
  std::vector<Graph::Value> outputs;
  while (accept(outputs.empty() ? "%" : ", %")) {
    const auto found = names.values.find(name());
    if (found == names.values.end()) refuse("a result is not known");
    outputs.push_back(found->second);
  }
  into.set_outputs(std::move(outputs));
  --depth_;
}

}  // namespace gradus
