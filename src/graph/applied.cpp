#include "graph/applied.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"

namespace gradus {
namespace {

constexpr std::int64_t kMaxLooked = 64;  // elements of a constant

template <class T>
bool all_are(const Tensor& t, double x) {
  const auto* data = static_cast<const T*>(t.raw_data());
  return std::all_of(data, data + t.num_elements(), [&](T e) {
    return static_cast<double>(e) == x && std::signbit(static_cast<double>(e)) == std::signbit(x);
  });
}

}  // namespace

std::optional<Applied> Applied::made(std::size_t i) const {
  const std::int32_t node = graph_.info(in_[i]).node;
  if (node < 0) return {};
  const Graph::Node& n = graph_.nodes()[static_cast<std::size_t>(node)];
  if (n.out_count != 1) return {};
  return Applied(graph_, *n.op, graph_.attrs(n), graph_.operands(n));
}

bool Applied::is_all(std::size_t i, double x) const {
  const Tensor& t = graph_.info(in_[i]).constant;
  if (!t.defined() || !is_concrete(t) || t.num_elements() > kMaxLooked) return false;
  switch (t.dtype()) {
    case int32:
      return all_are<std::int32_t>(t, x);
    case int64:
      return all_are<std::int64_t>(t, x);
    case float32:
      return all_are<float>(t, x);
    case float64:
      return all_are<double>(t, x);
    default:
      return false;
  }
}

const void* Applied::field(std::string_view name) const {
  for (const AttrField& f : op_.attrs().fields)
    if (name == f.name) return static_cast<const std::byte*>(attrs_) + f.offset;
  fail<InternalError>("[", op_.name(), "] has no attribute '", std::string(name), "'");
}

Tensor Applied::on(const Tensor& x) const {
  // A node may move when another is added, and its attributes with it.
  alignas(16) std::byte attrs[512];
  GRADUS_ASSERT(op_.attrs().bytes <= sizeof attrs);
  if (op_.attrs().bytes > 0) std::memcpy(attrs, attrs_, op_.attrs().bytes);
  const Graph::Value in[] = {graph_.value(x)};
  return graph_.tensor(graph_.add(op_, attrs, in).first_out);
}

}  // namespace gradus
