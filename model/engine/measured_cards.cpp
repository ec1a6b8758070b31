#include "model/engine/measured_cards.hpp"

#include <fmt/format.h>

#include "hardware/sorted_table.hpp"
#include "model/engine/constants_file.hpp"
#include "model/engine/measured_constants.hpp"

namespace headroom::model {

MeasuredTimes measured_times(const Engine& engine, const Device& card,
                             const QuantisedModel& weights) {
  static const SortedTable table(constants_file("measured_cards.tsv"));
  const auto row = [&](std::string_view name) {
    const std::string_view found =
        table.row(fmt::format("{}\t{}\t{}\t", engine.family, name, name_of(width_of(weights))));
    const auto [rows, sources] = fields_of<2>(found);
    return std::pair(static_cast<int>(number_of(rows)), static_cast<int>(number_of(sources)));
  };
  const auto [here, here_sources] = row(card.name);
  const auto [all, all_sources] = row(any_card);
  return {here, here_sources, all, all_sources};
}

}  // namespace headroom::model
