// Graph programs and sessions as Python holds them: capsules.
#pragma once
#include "gradus/graph_program.h"
#include "object.h"

namespace gradus::python {

const GraphProgram& program_of(PyObject* capsule);

}  // namespace gradus::python
