// Time constants of training runtimes: the embedded training_pace.tsv, which bench/fit writes from
// tests/accuracy/canonical/training_speed.csv.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/engine/constants_file.hpp"
#include "model/infer/intervals.hpp"
#include "model/train/time.hpp"

namespace headroom::model {
namespace {

struct Paces {
  std::vector<TrainingPace> runtimes;
  std::vector<CardPace> cards;
  TrainingPace unmeasured;  ///< all runtimes together, for a runtime without measurements
};

/// Widens the interval to at least that of a guess, for runtimes or cards without measured steps.
void widen(Constant& interval) {
  const Interval wide = IntervalFactors::wider(Interval(interval), unmeasured_step);
  interval = {interval.value, wide.low, wide.high, 0, "unmeasured"};
}

/// Reads a row for a card generation or a card.
void read_cards(std::vector<CardPace>& rows, std::string_view runtime, std::string_view cards,
                std::string_view name, const Constant& constant) {
  if (rows.empty() || rows.back().cards != cards || rows.back().runtime != runtime)
    rows.push_back({.runtime = std::string(runtime), .cards = std::string(cards)});
  if (name == "compute")
    rows.back().compute = constant;
  else if (name == "attention")
    rows.back().attention = constant;
  else
    throw std::logic_error("training_pace.tsv: no constant of cards " + std::string(name));
}

Paces read() {
  Paces all;
  for_lines(constants_file("training_pace.tsv"), [&](std::string_view line, int) {
    // runtime, constant, cards, value, low, high, measurements, source
    const auto f = fields_of<8>(line);
    const Constant constant{number_of(f[3]), number_of(f[4]), number_of(f[5]),
                            static_cast<int>(number_of(f[6])), f[7]};
    if (f[2] != "any") return read_cards(all.cards, f[0], f[2], f[1], constant);
    std::vector<TrainingPace>& rows = all.runtimes;
    if (rows.empty() || rows.back().runtime != f[0]) rows.push_back({.runtime = f[0]});
    if (f[1] == "interval") {
      rows.back().interval = constant;
      return;
    }
    const auto which = std::ranges::find(pace_names, f[1]);
    if (which == std::end(pace_names))
      throw std::logic_error("training_pace.tsv: no constant " + std::string(f[1]));
    rows.back().*pace_constants[which - std::begin(pace_names)] = constant;
  });
  all.unmeasured = all.runtimes.front();
  widen(all.unmeasured.interval);
  return all;
}

const Paces& paces() {
  static const Paces all = read();
  return all;
}

void scale(Constant& share, const Constant& by) {
  for (const auto end : {&Constant::value, &Constant::low, &Constant::high})
    share.*end = std::min(1.0, share.*end * by.value);
}

}  // namespace

std::span<const TrainingPace> training_paces() { return paces().runtimes; }
std::span<const CardPace> card_paces() { return paces().cards; }

std::string generation_of(const Device& card) {
  return card.compute_capability ? "sm_" + std::to_string(card.compute_capability->major)
                                 : card.vendor;
}

const TrainingPace& training_pace(std::string_view runtime) {
  const auto all = training_paces();
  const auto found = std::ranges::find(all, runtime, &TrainingPace::runtime);
  return found != all.end() ? *found : paces().unmeasured;
}

TrainingPace on_card(TrainingPace pace, const CardPace& card) {
  scale(pace.compute, card.compute);
  scale(pace.attention, card.attention);
  return pace;
}

TrainingPace training_pace(std::string_view runtime, const Device& card) {
  TrainingPace pace = training_pace(runtime);
  const std::string generation = generation_of(card);
  bool measured = false;
  for (const CardPace& each : card_paces()) {
    if (each.runtime != "any" && each.runtime != runtime) continue;
    if (each.cards != generation && each.cards != card.name) continue;
    pace = on_card(std::move(pace), each);
    // A maker's name says little about a card.
    measured = measured || (each.compute.measurements > 0 &&
                            (each.cards == card.name || card.compute_capability));
  }
  if (!measured) widen(pace.interval);
  return pace;
}

}  // namespace headroom::model
