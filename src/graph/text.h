// Graphs as text that reads back: what printed programs, tests of passes and saved functions use.
//
//   %0 = input : float32 (s0, 3)
//   %1 = constant(2) : float32 ()
//   %2 = multiply(%0, %1) : float32 (s0, 3)
//   %3 = reduce_sum(%2, axes=(1,), keepdims=False) : float32 (s0,)
//   return %3
//
// Constants of a few elements stand in the text, larger ones in a list beside it ("@0"). What is
// written after the colon is checked against the shape rules, so a text cannot lie. What an op
// holds besides plain attributes (the branches of a cond) is written by Held::describe and read by
// the record's read_held. Everything after a '#' is a comment.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace gradus {

// Without a list for large constants these are written as "constant(...)", which does not read.
std::string to_text(const Graph& graph, std::vector<Tensor>* constants = nullptr);

// InvalidArgumentError names the line and what is wrong with it.
std::shared_ptr<Graph> from_text(std::string_view text, const std::vector<Tensor>& constants = {});

// A position in a text, for those who read parts of one. Blanks are skipped before everything.
class TextReader {
 public:
  TextReader(std::string_view text, const std::vector<Tensor>& constants)
      : text_(text), constants_(constants) {}

  bool at_end();
  bool accept(std::string_view word);  // goes past it if it comes next
  void expect(std::string_view word);
  std::string name();  // letters, digits, '_' and '.'
  std::string quoted();
  std::int64_t integer();
  template <class T>
  T real();
  // A size, such as "2*s0 + 1"; symbols that are new to the table are made.
  Size size(Symbols& symbols);
  DType dtype();
  Shape shape(Symbols& symbols);
  Aval aval(Symbols& symbols);
  Tensor constant(const Aval& aval, std::string_view words);
  // The lines of a graph up to its "return" line.
  void graph(Graph& into);
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  struct Names;
  void skip();
  Size product(Symbols& symbols);
  void node(Graph& into, Names& names, const std::vector<std::string>& results);
  // Reads "name=value" into the attributes; gives the name.
  std::string attribute(Graph& into, const Op& op, std::byte* attrs,
                        std::vector<std::shared_ptr<Held>>& held);
  std::shared_ptr<Held> read_held(const Op& op, Graph& into);
  std::string_view balanced();  // the text up to the bracket that closes the one before

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;  // of brackets in a size and of regions
  struct Known {
    Level graph;
    ReadHeldFn reader;
    std::string_view text;
    std::shared_ptr<Held> held;
  };
  std::vector<Known> known_;  // what was read that nodes hold
  Renumbered renumbered_;
  const std::vector<Tensor>& constants_;
};

}  // namespace gradus
