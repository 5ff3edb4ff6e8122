// Functions that make, move and pick elements.
#include "agree/call.h"

namespace agree {
namespace {

// "[1,1,0,2]" as (1, 1), (0, 2).
gd::Paddings paddings_of(const Call& c) {
  const std::vector<std::int64_t> all = c.ints("paddings");
  gd::Paddings pairs;
  for (std::size_t i = 0; i < all.size(); i += 2) pairs.emplace_back(all[i], all[i + 1]);
  return pairs;
}

gd::PadMode mode_of(const Call& c) {
  const std::string mode = c.s("mode", "CONSTANT");
  return mode == "CONSTANT"  ? gd::PadMode::constant
         : mode == "REFLECT" ? gd::PadMode::reflect
                             : gd::PadMode::symmetric;
}

// "0,1:3,...,::-1,new" as what stands between brackets in Python; "new" is a new axis.
std::vector<gd::Index> indices_of(const std::string& text) {
  std::vector<gd::Index> all;
  for (const std::string& part : parts_of(text, ',')) {
    if (part == "...") {
      all.emplace_back(gd::ellipsis);
    } else if (part == "new") {
      all.emplace_back(gd::new_axis);
    } else if (part.find(':') == std::string::npos) {
      all.emplace_back(static_cast<std::int64_t>(std::stoll(part)));
    } else {
      const std::vector<std::string> ends = parts_of(part + ":", ':');
      gd::Slice slice;
      if (!ends[0].empty()) slice.begin = std::stoll(ends[0]);
      if (ends.size() > 1 && !ends[1].empty()) slice.end = std::stoll(ends[1]);
      if (ends.size() > 2 && !ends[2].empty()) slice.step = std::stoll(ends[2]);
      all.emplace_back(slice);
    }
  }
  return all;
}

void add_makers(Table& table) {
  table["zeros"] = calls(
      [](const Call& c) { return gd::zeros(c.shape("shape"), c.dtype("dtype", gd::float32)); });
  table["ones"] = calls(
      [](const Call& c) { return gd::ones(c.shape("shape"), c.dtype("dtype", gd::float32)); });
  table["fill"] = calls([](const Call& c) { return gd::fill(c.shape("dims"), c.t(0)); });
  table["zeros_like"] = one(gd::zeros_like);
  table["ones_like"] = one(gd::ones_like);
  table["range"] = calls([](const Call& c) {
    return c.count() == 1   ? gd::range(c.t(0))
           : c.count() == 2 ? gd::range(c.t(0), c.t(1))
                            : gd::range(c.t(0), c.t(1), c.t(2));
  });
  table["linspace"] = calls([](const Call& c) {
    return gd::linspace(c.t(0), c.t(1), c.i("num", 2), c.small("axis", 0));
  });
  table["eye"] = calls([](const Call& c) {
    return gd::eye(c.i("num_rows", 1), c.i("num_columns", -1),
                   c.has("batch_shape") ? c.shape("batch_shape") : Shape{},
                   c.dtype("dtype", gd::float32));
  });
  table["one_hot"] = calls([](const Call& c) {
    return c.count() == 3
               ? gd::one_hot(c.t(0), c.i("depth", 1), c.t(1), c.t(2), c.small("axis", -1))
               : gd::one_hot(c.t(0), c.i("depth", 1), 1.0, 0.0, c.small("axis", -1));
  });
  table["sequence_mask"] = calls([](const Call& c) {
    return gd::sequence_mask(c.t(0), c.i("maxlen", -1), c.dtype("dtype", gd::bool_));
  });
  table["meshgrid"] =
      calls([](const Call& c) { return gd::meshgrid(c.list(0), c.s("indexing", "xy")); });
  table["shape"] =
      calls([](const Call& c) { return gd::shape(c.t(0), c.dtype("out_type", gd::int32)); });
  table["size"] =
      calls([](const Call& c) { return gd::size(c.t(0), c.dtype("out_type", gd::int32)); });
  table["rank"] = one(gd::rank);
}

void add_shaping(Table& table) {
  table["reshape"] = calls([](const Call& c) { return gd::reshape(c.t(0), c.shape("shape")); });
  table["broadcast_to"] =
      calls([](const Call& c) { return gd::broadcast_to(c.t(0), c.shape("shape")); });
  table["transpose"] = calls([](const Call& c) {
    return c.has("perm") ? gd::transpose(c.t(0), c.shape("perm")) : gd::transpose(c.t(0));
  });
  table["expand_dims"] =
      calls([](const Call& c) { return gd::expand_dims(c.t(0), c.small("axis", 0)); });
  table["squeeze"] = calls([](const Call& c) {
    return c.has("axis") ? gd::squeeze(c.t(0), c.shape("axis")) : gd::squeeze(c.t(0));
  });
  table["concat"] = calls([](const Call& c) { return gd::concat(c.list(0), c.small("axis", 0)); });
  table["stack"] = calls([](const Call& c) { return gd::stack(c.list(0), c.small("axis", 0)); });
  table["unstack"] = calls([](const Call& c) { return gd::unstack(c.t(0), c.small("axis", 0)); });
  table["split"] = calls([](const Call& c) {
    const std::vector<std::int64_t> sizes = c.ints("num_or_size_splits");
    const int axis = c.small("axis", 0);
    return c.s("num_or_size_splits", "")[0] == '['
               ? gd::split(c.t(0), sizes, axis)
               : gd::split(c.t(0), static_cast<int>(sizes[0]), axis);
  });
  table["tile"] = calls([](const Call& c) { return gd::tile(c.t(0), c.shape("multiples")); });
  table["repeat"] = calls([](const Call& c) {
    const std::vector<std::int64_t> repeats = c.ints("repeats");
    if (!c.has("axis")) return gd::repeat(c.t(0), repeats[0]);
    const int axis = c.small("axis", 0);
    return repeats.size() > 1 ? gd::repeat(c.t(0), repeats, axis)
                              : gd::repeat(c.t(0), repeats[0], axis);
  });
  table["reverse"] = calls([](const Call& c) { return gd::reverse(c.t(0), c.shape("axis")); });
  table["reverse_sequence"] = calls([](const Call& c) {
    return gd::reverse_sequence(c.t(0), c.t(1), c.small("seq_axis", 1), c.small("batch_axis", 0));
  });
  table["roll"] =
      calls([](const Call& c) { return gd::roll(c.t(0), c.shape("shift"), c.shape("axis")); });
  table["pad"] = calls([](const Call& c) {
    return c.count() > 1 ? gd::pad(c.t(0), paddings_of(c), mode_of(c), c.t(1))
                         : gd::pad(c.t(0), paddings_of(c), mode_of(c));
  });
  table["bitcast"] =
      calls([](const Call& c) { return gd::bitcast(c.t(0), c.dtype("type", gd::int32)); });
}

void add_indexing(Table& table) {
  table["slice"] =
      calls([](const Call& c) { return gd::slice(c.t(0), c.shape("begin"), c.shape("size")); });
  table["index"] =
      calls([](const Call& c) { return gd::index(c.t(0), indices_of(c.s("at", ""))); });
  table["strided_slice"] = calls([](const Call& c) {
    const auto mask = [&](const char* name) { return static_cast<std::uint32_t>(c.i(name, 0)); };
    return gd::strided_slice(c.t(0), c.shape("begin"), c.shape("end"), c.shape("strides"),
                             {.begin = mask("begin_mask"),
                              .end = mask("end_mask"),
                              .ellipsis = mask("ellipsis_mask"),
                              .new_axis = mask("new_axis_mask"),
                              .shrink_axis = mask("shrink_axis_mask")});
  });
  table["gather"] = calls([](const Call& c) {
    const std::optional<int> axis =
        c.has("axis") ? std::optional(c.small("axis", 0)) : std::nullopt;
    return gd::gather(c.t(0), c.t(1), axis, c.small("batch_dims", 0));
  });
  table["where_true"] = calls([](const Call& c) { return gd::where(c.t(0)); });
  table["boolean_mask"] =
      calls([](const Call& c) { return gd::boolean_mask(c.t(0), c.t(1), c.small("axis", 0)); });
  table["gather_nd"] =
      calls([](const Call& c) { return gd::gather_nd(c.t(0), c.t(1), c.small("batch_dims", 0)); });
  table["scatter_nd"] =
      calls([](const Call& c) { return gd::scatter_nd(c.t(0), c.t(1), c.shape("shape")); });
  table["tensor_scatter_nd_add"] = three(gd::tensor_scatter_nd_add);
  table["tensor_scatter_nd_sub"] = three(gd::tensor_scatter_nd_sub);
  table["tensor_scatter_nd_update"] = three(gd::tensor_scatter_nd_update);
  table["tensor_scatter_nd_max"] = three(gd::tensor_scatter_nd_max);
  table["tensor_scatter_nd_min"] = three(gd::tensor_scatter_nd_min);
  table["scatter_rows"] =
      calls([](const Call& c) { return gd::scatter_rows(c.t(0), c.t(1), c.shape("shape")); });
  table["set_row"] = three(gd::set_row);
  table["add_row"] = three(gd::add_row);
}

}  // namespace

void add_arrays(Table& table) {
  add_makers(table);
  add_shaping(table);
  add_indexing(table);
}

}  // namespace agree
