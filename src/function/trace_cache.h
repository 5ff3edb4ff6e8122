// Which of a function's traces serves a call, and when the function is traced anew.
//
// The first call is traced with the sizes that it has. A call in which some sizes differ is traced
// with these as unknowns; such a trace serves every size that answers what the function asked about
// it (the guards) as the traced one did. A size that the function wants as a number is pinned: it
// stays known, and each of its values has a trace. What the run itself finds may break a guard too;
// then the call is traced once more, with what was found as hints.
#pragma once
#include <list>
#include <mutex>
#include <optional>
#include <set>

#include "function/trace.h"

namespace gradus::detail {

// Sizes of arguments, by argument and axis, that the function wants as numbers: each has traces of
// its own, in which the size is known.
using Pinned = std::set<std::pair<std::size_t, int>>;

// What a call has tried: a trace may turn out not to serve the sizes that its run finds. It is then
// traced with those as hints.
struct Attempts {
  std::vector<std::shared_ptr<Trace>> failed = {};
  std::vector<std::optional<std::int64_t>> found = {};  // in the order in which they are made
};

struct FunctionCore::State {
  FunctionOptions options;
  mutable std::recursive_mutex mutex;        // a function may ask about itself while it is traced
  std::list<std::shared_ptr<Trace>> traces;  // used last first
  std::vector<std::string> log;
  int count = 0;
  int refusals = 0;  // of unknown sizes: a call of no rows may be the reason, or the function
  Pinned pinned;

  // Notes the sizes that the function asks to be numbers; whether there are new ones.
  bool pin(const Trace& trace);

  void keep(const std::shared_ptr<Trace>& trace, const std::string& reason);
  std::shared_ptr<Trace> find(const std::vector<Tensor>& in, const Body& body,
                              const std::string& key, const Attempts& attempts = {});
};

}  // namespace gradus::detail
