#include "model/engine/engine.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "hardware/names.hpp"
#include "model/engine/engine_rows.hpp"
#include "model/engine/measured_constants.hpp"

namespace headroom::model {
namespace {

/// A user's row inherits constants as measured, so those are laid over the shipped rows first.
std::vector<Engine>& all_engines() {
  static std::vector<Engine> all = [] {
    std::vector<Engine> rows = policy_rows();
    apply_measured(rows);
    return rows;
  }();
  return all;
}

}  // namespace

const CacheFormat* CachePolicy::format(const Precision& precision) const {
  const auto found = std::ranges::find(formats, precision.name, &CacheFormat::precision);
  return found == formats.end() ? nullptr : &*found;
}

std::span<const Engine> engines() { return all_engines(); }

void add_engines(std::string_view toml, std::string_view file) {
  std::vector<Engine> rows = all_engines();
  read_engines(rows, toml, file);
  std::erase_if(rows, [](const Engine& row) { return row.is_template; });
  all_engines() = std::move(rows);
}

const Engine& engine(std::string_view name) {
  const std::string wanted = lower(name);
  std::vector<std::string> known;
  for (const Engine& row : engines()) {
    if (row.name == wanted) return row;
    known.emplace_back(row.name);
  }
  throw unknown_name("runtime", name, known);
}

}  // namespace headroom::model
