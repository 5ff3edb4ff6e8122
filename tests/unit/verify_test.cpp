// The verifier finds what a wrong pass leaves behind, and in builds with assertions it runs between
// all passes.
#include "compile/passes/verify.h"

#include <gtest/gtest.h>

#include "compile/passes/pipeline.h"
#include "gradus/gradus.h"
#include "graph/text.h"

namespace gradus {
namespace {

std::shared_ptr<Graph> sound() {
  return from_text(R"(%0 = input : float32 (s0, 3)
                      %1 = constant(2) : float32 ()
                      %2 = multiply(%0, %1) : float32 (s0, 3)
                      %3, %4 = split(%2, axis=1, parts=2, sizes=(1, 2)) : float32 (s0, 1), float32 (s0, 2)
                      %5 = reduce_sum(%4, axes=(1,), keepdims=False) : float32 (s0,)
                      return %5, %3)");
}

std::string complaint(const Graph& graph) {
  try {
    verify(graph, "a test");
  } catch (const InternalError& e) {
    return e.message();
  }
  return "none";
}

// An op whose results are what this says when its shape rule runs.
thread_local Avals says;
const Op changing_op = internal({.name = "changing",
                                 .doc = "Has another shape rule every day.",
                                 .dtypes = kAnyDType,
                                 .outputs = -1,
                                 .infer = [](const Call&, Avals& out) { out = says; },
                                 .kernel = [](const KernelCall&) {}},
                                "a test");

TEST(Verify, SoundGraphsPass) {
  EXPECT_EQ(complaint(*sound()), "none");
  EXPECT_EQ(complaint(*optimise(sound())), "none");
}

TEST(Verify, ResultsThatTheShapeRuleDoesNotGive) {
  auto graph = Graph::make();
  const Graph::Value x = graph->add_input({float32, {4}});
  says = {{float32, {4}}};
  graph->set_outputs({graph->add(changing_op, nullptr, {&x, 1}).first_out});
  EXPECT_EQ(complaint(*graph), "none");
  says = {{float32, {5}}};
  EXPECT_NE(complaint(*graph).find("after the pass 'a test': another dtype or shape at changing"),
            std::string::npos)
      << complaint(*graph);
  says = {{float64, {4}}};
  EXPECT_NE(complaint(*graph).find("another dtype or shape"), std::string::npos);
  says = {{float32, {4}}, {float32, {4}}};
  EXPECT_NE(complaint(*graph).find("another number of results"), std::string::npos);
}

TEST(Verify, AResultThatIsTakenForAnInput) {
  const auto graph = sound();
  std::vector<Graph::Value> inputs = graph->inputs();
  inputs.push_back(graph->nodes()[0].first_out);
  graph->set_inputs(std::move(inputs));
  EXPECT_NE(complaint(*graph).find("a result has another maker"), std::string::npos)
      << complaint(*graph);
}

TEST(Verify, OutputsThatDoNotExist) {
  const auto graph = sound();
  graph->set_outputs({static_cast<Graph::Value>(graph->value_count())});
  EXPECT_NE(complaint(*graph).find("no output"), std::string::npos) << complaint(*graph);
}

TEST(Verify, RunsBetweenPassesWhereAssertionsDo) {
  auto graph = Graph::make();
  const Graph::Value x = graph->add_input({float32, {4}});
  says = {{float32, {4}}};
  graph->set_outputs({graph->add(changing_op, nullptr, {&x, 1}).first_out});
  says = {{float32, {5}}};
  std::string what = "none";
  try {
    optimise(graph, pass_names());
  } catch (const InternalError& e) {
    what = e.message();
  }
#ifdef NDEBUG
  EXPECT_EQ(what, "none");
#else
  EXPECT_NE(what.find("after the pass 'tracing'"), std::string::npos) << what;
#endif
}

}  // namespace
}  // namespace gradus
