// Rows of times behind each engine, card and width of weights.
#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

#include "bench/fit/fit.hpp"
#include "model/engine/measured_cards.hpp"
#include "model/engine/measured_constants.hpp"

namespace headroom::sweep {

std::string Fit::cards() const {
  struct Rows {
    int count = 0;
    std::set<std::string> sources;
  };
  std::map<std::string, Rows> all;
  for (const std::size_t i : times_) {
    const model::Scenario& s = subjects_[i].scenario;
    if (s.machine->devices.empty()) continue;
    const std::string_view width = model::name_of(width_of(*s.weights));
    for (const std::string_view card :
         {std::string_view(s.machine->devices[0].name), model::any_card}) {
      Rows& rows = all[fmt::format("{}\t{}\t{}", s.runtime->family, card, width)];
      ++rows.count;
      rows.sources.insert(short_source((*subjects_[i].row)["source"]));
    }
  }
  std::string text = "# family, card, width of weights, rows of times, sources\n";
  for (const auto& [key, rows] : all)
    text += fmt::format("{}\t{}\t{}\n", key, rows.count, rows.sources.size());
  return text;
}

}  // namespace headroom::sweep
