// Trees of tensors in HDF5 files, as far as Keras' .weights.h5 and .h5 files go.
//
//   gd::Hdf5Node root = gd::load_hdf5("model.weights.h5");
//   const auto& kernel = std::get<gd::Tensor>(root.children.at("layers").children.at(...).value);
//
// A node is a group (no value), or a dataset: a tensor or text. Attributes are tensors or text too.
// The reader knows what libhdf5 writes unless it is told to use its newest formats: groups as
// symbol tables or compact links; compact, contiguous and chunked data, packed by gzip or not. The
// writer keeps data and structure under the checksums that the format has; text lies in a heap that
// has none. A damaged or hostile file is a DataLossError and allocates no more than its size
// allows; what is whole but not known here is an UnimplementedError that says so.
#pragma once
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "gradus/tensor.h"

namespace gradus {

using Hdf5Value = std::variant<std::monostate, Tensor, std::string, std::vector<std::string>>;

struct Hdf5Node {
  Hdf5Value value;
  std::map<std::string, Hdf5Value> attributes;
  std::map<std::string, Hdf5Node> children;
};

Hdf5Node load_hdf5(const std::string& path);
// From memory; `name` is for messages.
Hdf5Node parse_hdf5(std::span<const std::byte> bytes, const std::string& name);

void save_hdf5(const std::string& path, const Hdf5Node& root);
std::string hdf5_bytes(const Hdf5Node& root);

}  // namespace gradus
