// A saved function is an .npz with the text as bytes: "program", "c0", "c1", ..., "v0", ...
#include <cstring>

#include "gradus/error.h"
#include "gradus/io.h"
#include "gradus/saved_function.h"

namespace gradus {

void save_function(const std::string& path, const SavedFunction& function) {
  std::map<std::string, Tensor> entries;
  const std::vector<std::uint8_t> text(function.text.begin(), function.text.end());
  entries["program"] = Tensor::from(text, {static_cast<std::int64_t>(text.size())});
  for (std::size_t i = 0; i < function.constants.size(); ++i)
    entries["c" + std::to_string(i)] = function.constants[i];
  for (std::size_t i = 0; i < function.variables.size(); ++i)
    entries["v" + std::to_string(i)] = function.variables[i];
  save_npz(path, entries);
}

LoadedFunction load_function(const std::string& path) {
  const std::map<std::string, Tensor> entries = load_npz(path);
  const auto program = entries.find("program");
  if (program == entries.end() || program->second.dtype() != uint8 || program->second.rank() != 1)
    throw DataLossError(path + ": this .npz holds no function (it has no entry 'program')");
  SavedFunction saved;
  const auto* text = static_cast<const char*>(program->second.raw_data());
  saved.text.assign(text, static_cast<std::size_t>(program->second.num_elements()));
  const auto all = [&](const char* letter, std::vector<Tensor>& into) {
    for (;;) {
      const auto entry = entries.find(letter + std::to_string(into.size()));
      if (entry == entries.end()) return;
      into.push_back(entry->second);
    }
  };
  all("c", saved.constants);
  all("v", saved.variables);
  try {
    return LoadedFunction(saved);
  } catch (const InvalidArgumentError& e) {
    throw DataLossError(path + ": " + e.message());
  }
}

}  // namespace gradus
