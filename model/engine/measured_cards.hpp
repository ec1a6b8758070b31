// Numbers of measured times behind an engine on one card (model/engine/measured_cards.tsv).
#pragma once

#include <string_view>

#include "hardware/device.hpp"
#include "model/engine/engine.hpp"

namespace headroom::model {

/// The name of all cards together in that file.
inline constexpr std::string_view any_card = "any";

/// Rows of times, and their sources, with weights of one width under one family of engines.
struct MeasuredTimes {
  int here = 0, here_sources = 0;  ///< on this card
  int all = 0, all_sources = 0;    ///< on any card, this one included
};
/// Rows of an engine without measurements of its own are those of its family.
MeasuredTimes measured_times(const Engine& engine, const Device& card,
                             const QuantisedModel& weights);

}  // namespace headroom::model
