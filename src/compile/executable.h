// A graph made ready to run: an array of steps, each a kernel call whose operands lie at places
// that were planned ahead.
//
// What depends on sizes (shapes, attributes, places in the arena, loop nests) is a Layout; there is
// one for each set of sizes that was seen, and a bounded number of them. What a call writes is a
// Frame; calls from several threads take different ones. Nothing is compiled when sizes change.
#pragma once
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "compile/buffers.h"
#include "graph/graph.h"

namespace gradus {

// The innermost op that failed in this thread since it was last set to none.
extern constinit thread_local std::optional<std::source_location> failed_line;
// While an exception of a step is handled: the user's line that the step stands for.
void name_failed_step(std::source_location where);

class Stretches;

class Executable {
 public:
  // Every op of the graph must have a kernel (expand.h).
  explicit Executable(std::shared_ptr<Graph> graph, std::span<const Donation> donations = {});
  // A program that finds sizes while it runs (compile/stretches.h).
  explicit Executable(std::unique_ptr<Stretches> stretches);
  ~Executable();
  Executable(const Executable&) = delete;

  // Runs the program. Inputs that are named in a donation and that nobody else holds are consumed:
  // they come back undefined in `in` and as the output in `out`.
  void run(std::span<Tensor> in, std::span<Tensor> out);

  // Runs on memory that the caller has, often: what depends on shapes is found once.
  class Runner;

  Graph& graph() const { return *graph_; }
  // Of what lives only during a call, at these sizes.
  std::int64_t arena_bytes(Sizes sizes);
  std::size_t step_count() const;
  bool writes_over_input(std::size_t output) const {
    return !stretches_ && plan_.donor[output] == static_cast<std::int64_t>(output);
  }

 private:
  struct Layout;
  struct Frame;
  std::shared_ptr<Layout> layout_for(std::span<const Tensor> in);
  std::shared_ptr<Layout> layout_for(Sizes sizes);
  std::shared_ptr<Layout> make_layout(Sizes sizes) const;
  static void execute(const Layout& layout, Frame& frame);

  std::shared_ptr<Graph> graph_;
  std::unique_ptr<Stretches> stretches_;  // or null
  BufferPlan plan_;

  mutable std::mutex mutex_;
  std::list<std::shared_ptr<Layout>> layouts_;  // used last first
};

class Executable::Runner {
 public:
  // `in` brings dtypes and shapes; its data is not looked at.
  Runner(Executable& program, std::span<const View> in);
  ~Runner();
  Runner(const Runner&) = delete;

  // One pointer for each input and output. Outputs overlap neither inputs nor each other, except
  // that an output which is an input, unchanged, may lie where the input does, and one that writes
  // over its input (a donation) there too.
  bool writes_over_input(std::size_t output) const { return program_.writes_over_input(output); }
  void run(std::span<void* const> in, std::span<void* const> out);

  // Where an input or output lies in run after run: each time `step` bytes further, or by turns
  // `step` bytes further and back.
  struct Track {
    void* at = nullptr;
    std::ptrdiff_t step = 0;
    bool by_turns = false;
    bool operator==(const Track&) const = default;
  };
  // Many runs in one call, which costs little more than the kernels do. `go_on` is looked at after
  // each. Gives the number of runs.
  std::int64_t repeat(std::int64_t count, std::span<const Track> in, std::span<const Track> out,
                      const bool* go_on = nullptr);

 private:
  struct Copy {  // an output that no step makes
    const void* constant;
    std::int32_t input, output;  // or these, if not negative
    std::uint32_t to;
    std::size_t bytes;
  };
  void prepare_calls();
  void run_calls();
  void run_stretches(std::span<void* const> in, std::span<void* const> out);

  Executable& program_;
  SmallVector<Aval, 8> avals_;  // of the inputs
  std::shared_ptr<Layout> layout_;
  std::unique_ptr<Frame> frame_;
  std::vector<Copy> copies_;
};

}  // namespace gradus
