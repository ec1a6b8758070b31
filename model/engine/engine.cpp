#include "model/engine/engine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "hardware/embedded.hpp"
#include "hardware/names.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/engine_record.hpp"
#include "model/engine/engine_rows.hpp"
#include "model/engine/engine_version.hpp"

namespace headroom::model {
namespace {

std::vector<Engine>& all_engines() {
  static std::vector<Engine> all = from_record(embedded_engine_record()[0].bytes);
  return all;
}

}  // namespace

bool WeightPolicy::holds(SchemeFamily family) const {
  return std::ranges::find(formats, family) != formats.end();
}

std::string_view WeightPolicy::word_of_made(std::string_view scheme) const {
  for (const std::string_view each : made_at_start)
    if (const auto space = each.find(' '); each.substr(0, space) == scheme)
      return each.substr(space + 1);
  return {};
}

const CacheFormat* CachePolicy::format(const Precision& precision) const {
  const auto found = std::ranges::find(formats, precision.name, &CacheFormat::precision);
  return found == formats.end() ? nullptr : &*found;
}

std::span<const Engine> engines() { return all_engines(); }

const Engine& row_of_measured(std::string_view series, std::string_view version) {
  const Engine* row = row_of_version(engines(), series, version);
  return row != nullptr ? *row : engine(series);
}

void add_engines(std::string_view toml, std::string_view file) {
  std::vector<Engine> rows = all_engines();
  read_engines(rows, toml, file);
  std::erase_if(rows, [](const Engine& row) { return row.is_template; });
  for (const Engine& row : rows)
    for (const auto& [key, precisions] : {std::pair("usual_precisions", &row.usual_precisions),
                                          std::pair("asked_precisions", &row.asked_precisions)})
      for (const std::string_view precision : *precisions) try {
          if (precision != "auto") scheme(precision);
        } catch (const std::exception& e) {
          throw std::runtime_error(
              fmt::format("{}: key '{}' of engine '{}': {}", file, key, row.name, e.what()));
        }
  all_engines() = std::move(rows);
}

namespace {

/// `text` without dots, dashes and the like.
std::string letters(std::string_view text) {
  std::string kept;
  for (const char c : text)
    if (c != '.' && c != '-' && c != '_' && c != ' ') kept += c;
  return kept;
}

/// The row's name for "llamacpp" or "llama_cpp@b7000"; `wanted` itself where no row is meant.
std::string as_in_a_row(std::string wanted) {
  const auto end = wanted.find('@');
  const std::string asked = letters(std::string_view(wanted).substr(0, end));
  for (const Engine& row : engines())
    if (letters(row.name) == asked)
      return std::string(row.name) + (end == std::string::npos ? "" : wanted.substr(end));
  return wanted;
}

/// "vllm" and "0.11" of "vllm@0.11". Throws UnknownName with all versions of the series.
const Engine& engine_by_version(std::string_view name, std::string_view version) {
  const Engine& newest = engine(name);
  if (const Engine* row = row_of_version(engines(), newest.series, version)) return *row;
  std::vector<std::string> known;
  for (const Engine& row : engines())
    if (row.series == newest.series && !(row.from.empty() && row.to.empty()))
      known.emplace_back(row.version);
  if (known.empty()) known.emplace_back(newest.version);
  throw UnknownName(fmt::format(
      "no row covers version {1} of runtime '{0}@{1}'; '{0}' alone is the newest; versions: {2}",
      name, version, fmt::join(known, ", ")));
}

}  // namespace

const Engine& engine(std::string_view name) {
  const std::string wanted = as_in_a_row(lower(name));
  if (const auto at = wanted.find('@'); at != std::string::npos)
    return engine_by_version(std::string_view(wanted).substr(0, at),
                             std::string_view(wanted).substr(at + 1));
  std::vector<std::string> known;
  for (const Engine& row : engines()) {
    if (row.name == wanted) return row;
    known.emplace_back(row.name);
  }
  // "vllm-0.31": a version that the row of another name stands for.
  const auto dash = wanted.rfind('-');
  if (dash != std::string::npos)
    for (const Engine& row : engines())
      if (row.name == wanted.substr(0, dash) &&
          row_of_version(engines(), row.series, wanted.substr(dash + 1)) != nullptr)
        throw UnknownName(fmt::format("unknown runtime '{}'; a version is written {}@{}", name,
                                      row.name, wanted.substr(dash + 1)));
  throw unknown_name("runtime", name, known);
}

}  // namespace headroom::model
