// How reports name places of the user's program.
#pragma once
#include <source_location>
#include <string>

#include "graph/op.h"

namespace gradus {

// "model.cpp:42"
inline std::string place(const std::source_location& where) {
  const std::string file = where.file_name();
  return file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(where.line());
}

// "[log] at model.cpp:42"
inline std::string op_at(const Op& op, const std::source_location& where) {
  return "[" + std::string(op.name()) + "] at " + place(where);
}

}  // namespace gradus
