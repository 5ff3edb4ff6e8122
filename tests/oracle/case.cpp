#include "oracle/case.h"

#include <cstring>
#include <sstream>

namespace oracle {
namespace {

constexpr const char* kRealOnly = "BJFdHnp";  // letters

Values values_of(const Case& c) {
  Values x;
  for (std::size_t i = 0; i < c.at.size(); ++i) {
    const auto fill = [&]<class S>(Array<S> a) {
      for (std::size_t k = 0; k < a.data.size(); ++k) {
        const std::complex<double> z = c.at[i][k];
        a.data[k] = S(z.real());
        if constexpr (std::is_same_v<S, Complex>) a.data[k].im = z.imag();
      }
      x.push_back(std::move(a));
    };
    if (c.program.complex_inputs[i]) {
      fill(Complexes(c.program.inputs[i]));
    } else {
      fill(Reals(c.program.inputs[i]));
    }
  }
  return x;
}

// A number that float32 has as well; often a round one, at which factors vanish.
double random_number(std::mt19937_64& random) {
  constexpr double kRound[] = {0, 1, -1, 0.5, 2};
  if (random() % 4 == 0) return kRound[random() % 5];
  return std::round(std::uniform_real_distribution<double>(-2, 2)(random) * 1024) / 1024 + 0x1p-12;
}
std::vector<std::complex<double>> random_numbers(Size n, std::mt19937_64& random) {
  std::vector<std::complex<double>> all;
  for (Size i = 0; i < n; ++i) {
    const double re = random_number(random);
    all.emplace_back(re, random_number(random));
  }
  return all;
}
Direction random_direction(const Program& p, std::mt19937_64& random) {
  Direction d;
  d.kind = static_cast<Direction::Kind>(random() % 4 % 3);
  for (const Dims& dims : p.inputs) {
    d.numbers.push_back(random_numbers(count(dims), random));
    for (auto& z : d.numbers.back()) z *= 0.5;
  }
  return d;
}

std::vector<Level> random_word(const CaseOptions& options, const Program& p, bool complex_result,
                               std::mt19937_64& random) {
  std::vector<Level> word;
  const bool complex_input =
      std::find(p.complex_inputs.begin(), p.complex_inputs.end(), true) != p.complex_inputs.end();
  bool complex = complex_result;
  int left = options.order;
  while (left > 0 || word.size() < options.word.size()) {
    Level level;
    const bool given = word.size() < options.word.size();
    level.mode = given ? options.word[word.size()] : options.modes[random() % options.modes.size()];
    if (order_of(level.mode) > left) continue;
    if ((complex || complex_input) && std::strchr(kRealOnly, level.mode)) {
      if (given) throw Rejected("a mode for real numbers");
      continue;
    }
    left -= order_of(level.mode);
    level.compiled = options.compiled && random() % 3 == 0;
    level.called_before = level.compiled && random() % 2;
    if (level.mode != 'm' && random() % 3 == 0)
      level.mix = random() % 2 ? Level::plus_value : Level::times_value;
    level.along = random_direction(p, random);
    level.second = random_direction(p, random);
    if (needs_scalar(level.mode)) complex = false;
    word.push_back(level);
  }
  return word;
}

// Every Jacobian maps all that is inside over its rows or columns: five of 18 rows, one in the
// other, need tens of gigabytes.
void require_moderate_size(const Case& c, Size results) {
  Size inputs = 0;
  for (const Dims& dims : c.program.inputs) inputs += count(dims);
  Real numbers = static_cast<Real>(results);
  for (const Level& level : c.word) {
    if (std::strchr("BJFdHp", level.mode)) numbers *= static_cast<Real>(std::max(results, inputs));
    if (needs_scalar(level.mode)) results = 1;
  }
  require(numbers < 1e5L, "Jacobians of Jacobians that are too large");
}

Case try_case(std::uint64_t seed, const CaseOptions& options) {
  std::mt19937_64 random(seed);
  Case c;
  const auto inputs = 1 + random() % 3;
  for (std::size_t i = 0; i < inputs; ++i) {
    static const std::vector<Dims> kShapes = {{},     {},     {1},    {3},      {4},
                                              {2, 2}, {2, 3}, {3, 1}, {1, 2, 2}};
    c.program.inputs.push_back(kShapes[random() % kShapes.size()]);
    c.program.complex_inputs.push_back(options.complex && random() % 2);
    c.at.push_back(random_numbers(count(c.program.inputs.back()), random));
  }
  Values x = values_of(c);  // with infinitesimals in random directions
  for (Value& v : x) {
    std::visit(
        [&](auto& a) {
          for (auto& number : a.data)
            for (int i = 0; i < options.order; ++i)
              number += std::decay_t<decltype(number)>(Nil::infinitesimal(i) *
                                                       Nil(random_number(random) / 2));
        },
        v);
  }
  Maker maker(random(), c.program, x);
  const Table& table = all_ops();
  const auto lines = 1 + random() % static_cast<std::size_t>(options.lines);
  for (std::size_t tries = 0; c.program.nodes.size() < lines && tries < 40; ++tries)
    maker.try_op(table[random() % table.size()]);
  if (options.op && !maker.try_op(*options.op)) throw Rejected("the op does not fit");
  if (c.program.nodes.empty()) throw Rejected("no program");
  if (options.op && random() % 2) maker.try_op(op_named(random() % 2 ? "sin" : "square"));
  c.program.drop_unused();
  const Value result = c.program.run(x);
  c.word = random_word(options, c.program, is_complex(result), random);
  require_moderate_size(c, count(dims_of(result)));
  static_cast<void>(oracle_value(c.program, c.word, values_of(c)));
  return c;
}

std::complex<double> element(const gd::Tensor& t, Size i) {
  const gd::Tensor wide = gd::cast(t, gd::complex128);
  return wide.data<std::complex<double>>()[i];
}

Case with_input_for(const Case& c, std::size_t node, const Value& value) {
  Case smaller = c;
  const auto first = static_cast<int>(c.program.inputs.size()),
             number = first + static_cast<int>(node);
  smaller.program.inputs.push_back(dims_of(value));
  smaller.program.complex_inputs.push_back(is_complex(value));
  smaller.program.nodes.erase(smaller.program.nodes.begin() + static_cast<std::ptrdiff_t>(node));
  for (Node& n : smaller.program.nodes)
    for (int& in : n.in) in = in == number ? first : in >= first && in < number ? in + 1 : in;
  std::vector<std::complex<double>> numbers;
  std::visit(
      [&]<class S>(const Array<S>& a) {
        for (const S& z : a.data) {
          if constexpr (std::is_same_v<S, Complex>) {
            numbers.emplace_back(static_cast<double>(z.re.base()),
                                 static_cast<double>(z.im.base()));
          } else {
            numbers.emplace_back(static_cast<double>(z.base()), 0);
          }
        }
      },
      value);
  smaller.at.push_back(numbers);
  std::mt19937_64 random(node);
  for (Level& l : smaller.word) {
    l.along.numbers.push_back(random_numbers(count(dims_of(value)), random));
    l.second.numbers.push_back(random_numbers(count(dims_of(value)), random));
  }
  smaller.program.drop_unused();
  return smaller;
}

void drop_unused_inputs(Case& c) {
  for (std::size_t i = c.program.inputs.size(); i-- > 0 && c.program.inputs.size() > 1;) {
    const auto number = static_cast<int>(i);
    bool used = false;
    for (const Node& n : c.program.nodes)
      used |= std::find(n.in.begin(), n.in.end(), number) != n.in.end();
    if (used) continue;
    const auto erase = [&](auto& list) { list.erase(list.begin() + number); };
    erase(c.program.inputs);
    erase(c.program.complex_inputs);
    erase(c.at);
    for (Level& l : c.word) {
      erase(l.along.numbers);
      erase(l.second.numbers);
    }
    for (Node& n : c.program.nodes)
      for (int& in : n.in) in -= in > number;
  }
}

// Cases that are one step smaller.
std::vector<Case> smaller_cases(const Case& c) {
  std::vector<Case> all;
  const auto with = [&](auto change) {
    Case smaller = c;
    change(smaller);
    drop_unused_inputs(smaller);
    all.push_back(std::move(smaller));
  };
  for (std::size_t i = 0; i < c.word.size(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    with([&](Case& s) { s.word.erase(s.word.begin() + at); });
    if (c.word[i].compiled) with([&](Case& s) { s.word[i].compiled = false; });
    if (c.word[i].called_before) with([&](Case& s) { s.word[i].called_before = false; });
    if (c.word[i].mix) with([&](Case& s) { s.word[i].mix = Level::derivative; });
    if (c.word[i].along.kind || c.word[i].second.kind)
      with([&](Case& s) { s.word[i].along.kind = s.word[i].second.kind = Direction::constant; });
    if (std::strchr("jltBJFd", c.word[i].mode)) with([&](Case& s) { s.word[i].mode = 'f'; });
    if (std::strchr("gvp", c.word[i].mode)) with([&](Case& s) { s.word[i].mode = 'r'; });
    if (std::strchr("Hn", c.word[i].mode)) with([&](Case& s) { s.word[i].mode = 'h'; });
  }
  if (c.program.nodes.size() > 1) {
    with([&](Case& s) {
      s.program.nodes.pop_back();
      s.program.drop_unused();
    });
  }
  Program prefix = c.program;
  for (std::size_t i = c.program.nodes.size() - 1; i-- > 0;) {
    prefix.nodes.resize(i + 1);
    all.push_back(with_input_for(c, i, prefix.run(values_of(c))));
    drop_unused_inputs(all.back());
  }
  return all;
}

bool fails(const Case& c) {
  try {
    return !c.word.empty() && !difference(c).empty();
  } catch (const Rejected&) {
    return false;
  }
}

}  // namespace

std::string Case::text() const {
  std::ostringstream out;
  out.precision(17);
  out << program.text();
  for (std::size_t i = 0; i < at.size(); ++i) {
    out << "  at v" << i << " =";
    for (const auto& z : at[i]) {
      out << " " << z.real();
      if (program.complex_inputs[i]) out << std::showpos << z.imag() << "i" << std::noshowpos;
    }
    out << "\n";
  }
  for (const Level& l : word) {
    out << "  then " << l.mode
        << (l.mix == Level::plus_value    ? " plus half the value"
            : l.mix == Level::times_value ? " times the value"
                                          : "")
        << (l.compiled ? l.called_before ? ", compiled and called" : ", compiled" : "");
    const auto direction = [&](const char* name, const Direction& d) {
      constexpr const char* kKinds[] = {"", " times x", " times sin(x)"};
      out << name;
      for (std::size_t i = 0; i < d.numbers.size(); ++i) {
        if (i) out << ";";
        for (const auto& z : d.numbers[i]) {
          out << " " << z.real();
          if (program.complex_inputs[i]) out << std::showpos << z.imag() << "i" << std::noshowpos;
        }
      }
      out << kKinds[d.kind];
    };
    if (l.mode != 'm') direction(", along", l.along);
    if (order_of(l.mode) == 2) direction(", and", l.second);
    out << "\n";
  }
  return out.str();
}

std::optional<Case> random_case(std::uint64_t seed, const CaseOptions& options) {
  for (std::uint64_t tries = 0; tries < 30; ++tries) {
    try {
      return try_case(seed + (tries << 48), options);
    } catch (const Rejected&) {
    }
  }
  return {};
}

bool is_documented_limit(const char* message) {
  for (const char* limit : {"the highest rank is 9",                  // Jacobians of Jacobians
                            "cannot be mapped over an empty batch"})  // vmap
    if (std::strstr(message, limit)) return true;
  return false;
}

std::string difference(const Case& c) {
  const Values x = values_of(c);
  const Value right = oracle_value(c.program, c.word, x);
  Tensors point;
  for (const Value& v : x) point.push_back(to_tensor(v, c.dtype));
  gd::Tensor got;
  try {
    got = engine_function(c.program, c.word, point)(point);
  } catch (const gd::Error& error) {
    require(!is_documented_limit(error.what()), "a documented limit");
    return std::string("the engine throws: ") + error.what();
  }
  const gd::Tensor expected = to_tensor(right, gd::float64);
  if (!(got.shape() == expected.shape())) {
    return "shape " + to_string(got.shape()) + " instead of " + to_string(expected.shape());
  }
  const double tolerance = c.dtype == gd::float64 ? 1e-9 : 2e-3;
  for (Size i = 0; i < expected.num_elements(); ++i) {
    const std::complex<double> a = element(got, i), b = element(expected, i);
    if (std::abs(a - b) <= tolerance * (1 + std::abs(b))) continue;
    std::ostringstream out;
    out.precision(17);
    out << "element " << i << " is " << a << " instead of " << b;
    return out.str();
  }
  return "";
}

std::string report(Case c) {
  bool smaller = true;
  while (smaller) {
    smaller = false;
    for (const Case& next : smaller_cases(c)) {
      if (!fails(next)) continue;
      c = next;
      smaller = true;
      break;
    }
  }
  return difference(c) + "\n" + c.text();
}

}  // namespace oracle
