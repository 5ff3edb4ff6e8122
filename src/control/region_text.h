// Lists in what the nodes of control flow hold, in the text form of graphs: "(0, 2, 3)".
#pragma once
#include "graph/text.h"

namespace gradus {

template <class List>
std::string in_brackets(const List& list) {
  std::string text = "(";
  for (std::size_t i = 0; i < list.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(list[i]);
  return text + ")";
}
// Refused if not each is below `limit`, or if there are not `count` of them.
std::vector<std::size_t> read_indices(TextReader& reader, std::size_t limit);
std::vector<bool> read_flags(TextReader& reader, std::size_t count);

}  // namespace gradus
