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
// The value was made by a node that finds sizes: binds those among its shape, and notes them.
void bind_found(const Graph& graph, Graph::Value v, const Shape& shape, Sizes& sizes,
                std::vector<BrokenGuard::Found>& found);
// Replaces the symbols among attributes by numbers.
void bind_attrs(const Symbols& symbols, const Sizes& sizes, const AttrType& type, std::byte* attrs);

// Whether one of them is a size that only the program will know.
bool names_sizes(const AttrType& type, const void* attrs);

// Whether a program that was traced with unknown sizes serves these: its guards hold, and every
// shape rule, run once more, gives what the trace took for granted. What an op refuses is a no.
// What is made of sizes that are not bound yet is not looked at.
bool serves(const Graph& graph, const Sizes& sizes);
// BrokenGuard if one does not hold; those about sizes that are not bound yet are not looked at.
void check_guards(const Graph& graph, const Sizes& sizes);
// As serves, but says what is wrong: BrokenGuard, or the error of an op.
void check_sizes(const Graph& graph, const Sizes& sizes);

}  // namespace gradus
