// Runs a graph node by node through dispatch: the simplest executor, and the oracle for the
// compiler.
#pragma once
#include <functional>
#include <vector>

#include "graph/graph.h"

namespace gradus {

// Symbolic sizes take their values from the shapes of the given inputs.
std::vector<Tensor> evaluate(Graph& graph, std::span<const Tensor> inputs);
// Only what the wanted values and their sizes are computed from.
std::vector<Tensor> evaluate_needed(Graph& graph, std::span<const Tensor> inputs,
                                    std::span<const Graph::Value> wanted);
// Only the first `nodes` nodes, which need the first inputs, and the values that are wanted.
std::vector<Tensor> evaluate(Graph& graph, std::span<const Tensor> inputs,
                             std::span<const Graph::Value> wanted, std::size_t nodes);

// Traces a function of tensors into a new graph with these inputs.
std::shared_ptr<Graph> trace(const std::function<Tensors(std::span<const Tensor>)>& f,
                             std::span<const Aval> inputs, std::shared_ptr<Graph> into = nullptr);

}  // namespace gradus
