// All op records, by name.
#pragma once
#include <string>
#include <vector>

#include "graph/op.h"

namespace gradus {

std::vector<const Op*> all_ops();            // sorted by name
const Op* find_op(const std::string& name);  // null if there is none

}  // namespace gradus
