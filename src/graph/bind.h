// Symbolic sizes get their values from the shapes of a graph's inputs.
#pragma once
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace gradus {

// The sizes that the symbols stand for, given what the first inputs are; they may themselves be
// symbols of the current trace. None if a shape contradicts what the graph knows or another input.
std::optional<Sizes> bind_sizes(const Graph& graph, std::span<const Aval> inputs);
std::optional<Sizes> bind_sizes(const Graph& graph, std::span<const Tensor> inputs);

Shape bind_shape(const Symbols& symbols, const Sizes& sizes, const Shape& shape);
// Replaces the symbols among attributes by numbers.
void bind_attrs(const Symbols& symbols, const Sizes& sizes, const AttrType& type, std::byte* attrs);

// Whether a program that was traced with unknown sizes serves these: its guards hold, and every
// shape rule, run once more, gives what the trace took for granted. What an op refuses is a no.
bool serves(const Graph& graph, const Sizes& sizes);

}  // namespace gradus
