// Parts that the first screens of estimate, curve and place share.
#pragma once

#include <string>
#include <string_view>

#include "hardware/units.hpp"
#include "model/answer/explain.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/placement/placement.hpp"
#include "sweep/options/scenario_options.hpp"

namespace headroom::sweep {

/// "21.1", "1,340": GiB with one decimal below 1,000; "<0.1" where that would be none.
std::string in_gib(Bytes bytes);
/// in_gib() of a need, rounded up: so much is enough.
std::string enough_gib(Bytes bytes);

/// Output tokens a second: "38.9 (34–52)", or "~38.9 (19–78)" where nothing was measured. `unit`
/// follows the number.
std::string speed_of(const model::Estimate& estimate, const model::Interval& tpot,
                     std::string_view unit = {});

/// "32.8 B": parameters of a model, or "135 M".
std::string size_words(const model::Model& model);
/// "q4_K_M under llama.cpp".
std::string way_words(const model::QuantisedModel& weights, const model::Engine& engine);
/// " on each of 2 GPUs"; empty for one.
std::string on_each_gpu(std::size_t gpus);
/// " in 2 boxes of 8", of as many cards; empty for one box.
std::string in_boxes(const Machine& machine, std::size_t gpus);

/// Heading of a column with memory_cell() of ways of which one uses so many GPUs, the others fewer.
std::string_view memory_heading(Size most_gpus);
/// "21.1 GiB" of each GPU, or of RAM without one.
std::string memory_cell(const model::Estimate& estimate, Size most_gpus);

/// Facts about a way that a note names.
struct WayNotes {
  bool tight = false, without_towers = false, below_four_bits = false;
};
/// A note where not all is on cards with room: "on the CPU", "offload" or "tight". It may also say
/// "too slow", "text only" and "below 4 bits".
std::string placement_note(const model::Estimate& estimate, const WayNotes& notes);

/// "6.17 min a token".
std::string token_time_words(Seconds tpot);

/// " on each of 8 copies"; empty for one.
std::string copies_words(const model::Scenario& scenario);

/// Layers on cards, on the CPU and on disk, and of how many on cards the CPU has the experts:
/// "36 / 0 / 0, 24 MoE on CPU".
std::string layers_cell(const model::Estimate& estimate, const model::Plan& plan);

/// The machine's name, without a host that was assumed.
std::string given_machine(const Machine& machine);

/// "org/name (32.8 B parameters) on MACHINE", as a paragraph.
std::string title_line(const GivenScenario& given);

/// " --gpu-budget 10837MiB": a budget on each card; empty where it is no less than all that may be
/// used, or there is no card.
std::string budget_argument(const GivenScenario& given, Bytes budget);
/// "headroom launch …" with `budget`, and that all of the card is used without it.
std::string launch_words(const GivenScenario& given, Bytes budget);

/// A line of at most 100 columns, or more, of which the further ones are indented.
std::string paragraph(std::string_view text);

/// A table: memory of the fullest card, of the host and the disk, by what it is for.
std::string memory_lines(const model::Explanation& explained);

/// A sentence where `shown` is not the engine's own placement, which `estimate` has; else empty.
std::string own_placement_line(const GivenScenario& given, const model::Estimate& shown);

/// Assumptions about all that the user left out, as paragraphs.
std::string assumption_lines(const GivenScenario& given);

}  // namespace headroom::sweep
