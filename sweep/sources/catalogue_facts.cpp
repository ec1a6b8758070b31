#include "sweep/sources/catalogue_facts.hpp"

#include <fmt/format.h>

#include "hardware/embedded.hpp"
#include "hardware/sorted_table.hpp"

namespace headroom::sweep {

namespace {

/// The line of a catalogue's file, "NAME.json", behind its name.
std::string_view row_of(const SortedTable& table, std::string_view file) {
  file.remove_suffix(std::string_view(".json").size());
  return table.row(std::string(file) + '\t');
}

}  // namespace

std::string origin_of(std::string_view file) {
  static const SortedTable table(embedded_models().content("sources.tsv"));
  const std::string_view origin = row_of(table, file);
  return origin.empty() ? "catalogue" : "catalogue, " + std::string(origin);
}

std::string_view use_of(std::string_view catalogue_file) {
  static const SortedTable table(embedded_models().content("uses.tsv"));
  const std::string_view row = row_of(table, catalogue_file);
  return row.substr(0, row.find('\t'));
}

void set_use(model::Model& model, std::string_view use, std::string_view file) {
  if (use.empty() || !model.profile.generative) return;
  model.use = use;
  model.assumed.push_back(
      fmt::format("{} is for {} and writes no text ({})", model.name, use, file));
}

}  // namespace headroom::sweep
