#include "bench/fit/constant_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "hardware/text.hpp"
#include "model/engine/measured_constants.hpp"
#include "model/engine/policy_rows.hpp"
#include "sweep/accuracy/constant_search.hpp"

namespace headroom::sweep {

std::string constant_line(std::string_view engine, std::string_view constant, std::size_t cards,
                          std::size_t width, const model::Constant& c, std::string_view source) {
  // Cells follow from the rate on any card: it has more digits than they.
  const int digits = cards == any ? 8 : 4;
  return fmt::format("{}\t{}\t{}\t{}\t{:.{}g}\t{:.4g}\t{:.4g}\t{}\t{}\n", engine, constant,
                     cards == any ? "any" : model::name_of(static_cast<model::CardClass>(cards)),
                     width == any ? "any" : model::name_of(static_cast<model::Width>(width)),
                     c.value, digits, c.low, c.high, c.measurements, source);
}

std::string sources_behind(const std::vector<ScoredRow>& subjects,
                           const std::vector<std::size_t>& of) {
  std::vector<const Measurement*> rows;
  for (const std::size_t i : of) rows.push_back(subjects[i].row);
  const std::string text = sources_of(rows);
  return text.empty() ? "pooled" : text;
}

std::set<std::string_view> families_of(const std::vector<ScoredRow>& subjects) {
  std::set<std::string_view> all;
  for (const ScoredRow& each : subjects) all.insert(each.scenario.runtime->family);
  return all;
}

std::set<std::string_view> generations_of(std::string_view family) {
  std::set<std::string_view> all;
  for (const model::Engine& row : model::policy_rows())
    if (row.family == family) all.insert(row.generation);
  return all;
}

std::string joined(std::string_view lines) {
  using RestAndNames = std::pair<std::string_view, std::string>;
  std::vector<RestAndNames> all;
  for (const std::string_view line : split(lines, '\n')) {
    if (line.empty()) continue;
    const auto tab = line.find('\t');
    const auto rest = line.substr(tab);
    const auto known = std::ranges::find(all, rest, &RestAndNames::first);
    if (known == all.end())
      all.emplace_back(rest, line.substr(0, tab));
    else
      known->second += fmt::format(", {}", line.substr(0, tab));
  }
  std::string text;
  for (const auto& [rest, names] : all) text += fmt::format("{}{}\n", names, rest);
  return text;
}

}  // namespace headroom::sweep
