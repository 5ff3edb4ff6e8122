// One comparison of the engine with the oracle: a program, a point, and a word of derivatives. A
// case that fails is made as small as it can be before it is printed.
#pragma once
#include "oracle/modes.h"

namespace oracle {

struct Case {
  Program program;
  std::vector<std::vector<std::complex<double>>> at;  // of real inputs the real parts
  std::vector<Level> word;
  gd::DType dtype = gd::float64;

  std::string text() const;
};

struct CaseOptions {
  int order = 2;
  std::string modes = "fjlrgvptBJFdhHnm";  // letters to draw from
  std::string word = {};                   // or exactly these
  const OpDef* op = nullptr;               // one that must occur
  bool complex = false;                    // some inputs
  bool compiled = true;                    // some levels
  int lines = 6;                           // at most
};

// A case of this seed; none if no program came out that the oracle accepts.
std::optional<Case> random_case(std::uint64_t seed, const CaseOptions& options);

// Whether an error of the engine is a limit that its documentation names, in these words.
bool is_documented_limit(const char* message);

// "" if both agree; else what differs.
std::string difference(const Case& c);
// The same, of the smallest case that differs, with its program.
std::string report(Case c);

}  // namespace oracle
