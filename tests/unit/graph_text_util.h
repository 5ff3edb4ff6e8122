// Passes on graphs that are written as text.
#pragma once
#include <gtest/gtest.h>

#include <cctype>
#include <map>

#include "graph/text.h"

namespace gradus {

// The same text for the same graph: values are numbered in the order in which they are printed.
inline std::string canonical(const std::string& text) {
  std::string now = text;
  for (int i = 0; i < 2; ++i) now = to_text(*from_text(now));
  return now;
}

// The same for texts that do not read back (loops of the fuser) or hold equal nodes: values are
// renamed in the order in which they appear.
inline std::string renamed(const std::string& text) {
  std::string result;
  std::map<std::string, std::size_t> names;
  for (std::size_t i = 0; i < text.size();) {
    result += text[i];
    if (text[i++] != '%') continue;
    std::string name;
    while (i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]))) name += text[i++];
    result += std::to_string(names.try_emplace(name, names.size()).first->second);
  }
  return result;
}

template <class Pass>
void expect_pass(Pass pass, const std::string& before, const std::string& after) {
  EXPECT_EQ(canonical(to_text(*pass(from_text(before)))), canonical(after)) << before;
}

}  // namespace gradus
