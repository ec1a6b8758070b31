#include "bench/fit/constant_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "hardware/text.hpp"
#include "model/engine/measured_constants.hpp"
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
