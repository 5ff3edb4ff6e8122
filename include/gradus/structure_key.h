// What a structure is besides its tensors, as text that is equal where all of that is: settings,
// how many parts there are, which of them are defined.
#pragma once
#include <iterator>

#include "gradus/structure.h"

namespace gradus::detail {

template <class T>
void add_bytes(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <Setting S>
void add_setting(std::string& key, const S& part) {
  if constexpr (std::is_null_pointer_v<S>) {
    return;
  } else if constexpr (std::is_same_v<S, Variable>) {
    add_bytes(key, part.state());
  } else if constexpr (std::is_same_v<S, SharedPart>) {
    add_bytes(key, part.of.get());
  } else if constexpr (std::is_same_v<S, long double>) {  // which has bytes without a meaning
    const auto high = static_cast<double>(part);
    add_bytes(key, high);
    add_bytes(key, static_cast<double>(part - static_cast<long double>(high)));
  } else if constexpr (Words<S>) {
    const std::string text = part;
    add_bytes(key, text.size());
    key += text;
  } else if constexpr (!std::is_empty_v<S>) {
    add_bytes(key, part);
  }
}

template <class S>
void add_to_key(std::string& key, const S& structure) {
  if constexpr (std::is_same_v<S, Tensor>) {
    key += structure.defined() ? 't' : 'u';
  } else if constexpr (std::is_same_v<S, Gradient>) {
    key += structure.is_none() ? 'u' : 't';
  } else if constexpr (Setting<S>) {
    add_setting(key, structure);
  } else {
    require_structure<S>();
    if constexpr (MapLike<S>) {
      add_bytes(key, structure.size());
      for (const auto& [name, part] : structure) add_to_key(key, name);
    } else if constexpr (VariantLike<S>) {
      add_bytes(key, structure.index());
    } else if constexpr (!SaysItsParts<S> && OptionalLike<S>) {
      add_bytes(key, structure.has_value());
    } else if constexpr (!SaysItsParts<S> && !TupleLike<S> && RangeLike<S>) {
      add_bytes(key, std::distance(structure.begin(), structure.end()));
    }
    if constexpr (is_structure<S>)  // parts are only read
      for_each_part(const_cast<S&>(structure), [&](const auto& part) { add_to_key(key, part); });
  }
}

// Sizes that a function gives back are numbers: what it is traced with does not outlive the trace.
template <class S>
void make_sizes_known(S& structure) {
  if constexpr (std::is_same_v<S, Size>) {
    structure = std::int64_t{structure};
  } else if constexpr (!Value<std::remove_const_t<S>> && !Setting<S> && is_structure<S>) {
    for_each_part(structure, [](auto& part) { make_sizes_known(part); });
  }
}

template <class S>
std::string settings_of(const S& structure) {
  std::string key;
  add_to_key(key, structure);
  return key;
}

}  // namespace gradus::detail
