// A function as it was traced for one signature, and the program that it became.
#pragma once
#include <any>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compile/executable.h"
#include "compile/passes/pipeline.h"
#include "function/taped_call.h"
#include "gradus/function.h"
#include "graph/graph.h"
#include "graph/host_number.h"
#include "graph/variable_state.h"

namespace gradus::detail {

// What was traced for one signature, compiled.
struct Trace {
  struct Argument {
    Aval aval;  // sizes may be symbols
    bool weak;
  };
  std::vector<Argument> signature;
  std::size_t unknowns = 0;                    // among the sizes of the arguments
  std::vector<NarrowedNumbers::Range> ranges;  // of integers among the arguments
  std::string key;                             // what the arguments are besides their tensors
  std::shared_ptr<Graph> graph;                // as traced: what a tape follows
  std::unique_ptr<Executable> program;
  std::shared_ptr<const std::any> structure;
  std::string settings;  // what the results are besides their tensors
  std::size_t result_count = 0;
  struct VariableUse {
    std::shared_ptr<VariableState> variable;
    std::int64_t output;  // where its new value is, or -1
  };
  std::vector<VariableUse> variables;  // in the order of the inputs after the arguments
  std::vector<Donation> donations;
  std::vector<std::size_t> written;  // those with an output, by address: the order of locking
  bool calls_foreign_code = false;   // which may read or write variables while the program runs

  std::string reason;
  double trace_ms = 0, compile_ms = 0;
  std::vector<PassReport> passes;
  Sizes sizes;  // of the call that it was made for

  bool is_stateful = false;
  // What a tape sees, by the inputs that it follows; none: op by op.
  std::mutex taped_mutex;
  std::map<std::vector<bool>, std::shared_ptr<TapedCall>> taped;

  // The last sizes that it was found to serve, and how many guards there were then.
  std::vector<Sizes> served;
  std::size_t guards = 0;

  // Whether its guards hold at these sizes and its shape rules say what they said.
  bool serves(const Sizes& sizes);
  // Whether dtypes, ranks and known sizes are those of its signature.
  bool matches(std::span<const Tensor> in) const;
};

// Runs the function on names of values of these kinds. `arguments` are those of the call, if there
// is one: they answer questions about sizes that only a run finds. None if it uses values of a
// trace or vmap around it: then it is part of those.
std::shared_ptr<Trace> record(std::vector<Trace::Argument> signature,
                              const std::shared_ptr<Graph>& graph, const FunctionCore::Body& body,
                              const FunctionOptions& options,
                              std::span<const Tensor> arguments = {});
// The program of a trace; `sizes` are those of the call that it is made for.
void compile(Trace& trace, const FunctionOptions& options, Sizes sizes);

// "float32 (n0, 3)"; symbols: null if all sizes are known.
std::string print(const Trace::Argument& a, const Symbols* symbols);
bool is_number(const Tensor& t);  // of the host's, without a dtype of its own

}  // namespace gradus::detail
