// Writes docs/ops.md from the records and from the table of conventions; with --check says whether
// the file is up to date.
//
//   ops_doc docs/ops.md            ops_doc --check docs/ops.md
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "expr/conventions.h"
#include "graph/op.h"
#include "ops/registry.h"

namespace gradus {
namespace {

const char* name_of_kind(Kind kind) {
  switch (kind) {
    case Kind::elementwise:
      return "elementwise";
    case Kind::linear:
      return "linear";
    case Kind::bilinear:
      return "bilinear";
    case Kind::selecting:
      return "selecting";
    case Kind::general:
      return "general";
    case Kind::composite:
      return "composite";
    case Kind::not_differentiable:
      return "no derivative";
  }
  return "";
}

std::string list(const std::string& all, const std::string& next) {
  return all.empty() ? next : all + ", " + next;
}

// Whole groups by their names, parts of them one by one.
std::string print_dtypes(DTypes set) {
  if ((set & kAnyDType) == kAnyDType) return "any";
  std::string text;
  for (const auto& [group, name] :
       {std::pair{kBools, "bool"}, std::pair{kIntegers, "integer"}, std::pair{kFloating, "float"},
        std::pair{kComplex, "complex"}}) {
    if ((set & group) == group) {
      text = list(text, name);
      continue;
    }
    for (int t = 0; t < kDTypeCount; ++t)
      if (set & group & one_dtype(static_cast<DType>(t)))
        text = list(text, std::string(name_of(static_cast<DType>(t))));
  }
  return text;
}

std::string in_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string document() {
  std::ostringstream out;
  out << "# The ops of Gradus\n\n"
         "Made by `ops_doc` (tests/ops_doc.cpp) from the records; do not edit. Kinds are explained "
         "in [add-an-op.md](add-an-op.md), the public functions are declared in `include/gradus`. "
         "The dtypes are those of the first argument that can have a gradient: *integer* is "
         "(u)int8 to (u)int64, *float* is float16, bfloat16, float32 and float64, *complex* is "
         "complex64 and complex128.\n\n"
         "| op | kind | dtypes | attributes | what it does | like |\n|---|---|---|---|---|---|\n";
  for (const Op* op : all_ops()) {
    std::string attributes, doc = op->info.doc;
    for (const AttrField& field : op->attrs().fields) attributes = list(attributes, field.name);
    if (op->why_not) doc += std::string(" No derivative: ") + op->why_not + ".";
    out << "| `" << op->name() << "` | " << name_of_kind(op->kind) << " | "
        << print_dtypes(op->info.dtypes) << " | " << attributes << " | " << in_cell(doc) << " | "
        << op->info.like << " |\n";
  }
  out << "\n## What happens at kinks, poles and infinities\n\n"
         "From `src/expr/conventions.cpp`; a test evaluates every row. The choice is TensorFlow's; "
         "where it is not, the note says so.\n\n"
         "| function | at | value | derivative in each argument | note |\n|---|---|---|---|---|\n";
  for (const expr::Convention& c : expr::conventions()) {
    out << "| `" << c.fn << "` | " << c.point << " | " << c.value << " | " << c.derivative << " | "
        << in_cell(c.note) << " |\n";
  }
  return out.str();
}

int run(int argc, char** argv) {
  const bool check = argc == 3 && std::strcmp(argv[1], "--check") == 0;
  if (!check && argc != 2) {
    std::fprintf(stderr, "usage: ops_doc [--check] docs/ops.md\n");
    return 2;
  }
  const char* path = argv[argc - 1];
  if (!check) {
    std::ofstream file(path);
    file << document();
    return file.flush() ? 0 : 1;
  }
  std::ifstream file(path);
  const std::string found{std::istreambuf_iterator<char>(file), {}};
  if (found == document()) return 0;
  std::fprintf(stderr, "%s is not what the records say. Make it again: %s %s\n", path, argv[0],
               path);
  return 1;
}

}  // namespace
}  // namespace gradus

int main(int argc, char** argv) { return gradus::run(argc, argv); }
