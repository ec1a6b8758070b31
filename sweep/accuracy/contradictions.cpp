#include "sweep/accuracy/contradictions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/infer/timeline/throughput.hpp"
#include "sweep/accuracy/prediction.hpp"

namespace headroom::sweep {
namespace {

bool same_cards(const Machine& a, const Machine& b) {
  return std::ranges::equal(a.devices, b.devices, {}, &Device::name, &Device::name);
}

/// All but how weights are held.
bool alike(const ScoredRow& a, const ScoredRow& b) {
  const model::Scenario &x = a.scenario, &y = b.scenario;
  return a.group == b.group && x.weights->model == y.weights->model && x.runtime == y.runtime &&
         x.batch == y.batch && x.prompt_tokens == y.prompt_tokens &&
         prefill_chunk(x) == prefill_chunk(y) && same_cards(*x.machine, *y.machine) &&
         (*a.row)["source"] == (*b.row)["source"];
}

bool unpacks(const model::Scenario& s) {
  return std::ranges::all_of(s.machine->devices, [&](const Device& device) {
    return model::unpacks_into_memory(s, device);
  });
}

constexpr double of_data_sheet = 0.8;

/// Seconds of a decode step of one sequence, or of loading from the disk; 0 for any other figure.
double min_seconds(const ScoredRow& each) {
  const model::Scenario& s = each.scenario;
  const bool load = each.statistic == Statistic::load || each.statistic == Statistic::load_weights;
  if (load) return of_data_sheet * reading_weights(each);
  const bool step = each.statistic == Statistic::step || each.statistic == Statistic::serving_step;
  if (!step || s.batch != 1 || s.machine->devices.size() > 1) return 0;
  if (s.draft != nullptr) return 0;  // a pass gives as many tokens as are kept
  return of_data_sheet * reading_weights(each);
}

}  // namespace

std::map<const Measurement*, Contradiction> contradicted(const std::vector<ScoredRow>& subjects) {
  constexpr double factor = 2;
  std::vector<const ScoredRow*> plain, packed;
  for (const ScoredRow& each : subjects) {
    if (each.group != "prefill" || each.scenario.machine->devices.empty()) continue;
    if (width_of(*each.scenario.weights) == model::Width::sixteen)
      plain.push_back(&each);
    else if (unpacks(each.scenario))
      packed.push_back(&each);
  }
  std::map<const Measurement*, Contradiction> found;
  for (const ScoredRow* slow : plain)
    for (const ScoredRow* more : packed)
      if (slow->measured > factor * more->measured && alike(*slow, *more))
        found.emplace(
            slow->row,
            Contradiction{Skip::contradiction,
                          fmt::format("16-bit weights took {:.1f} times as long as packed "
                                      "ones, which are unpacked first",
                                      slow->measured / more->measured)});
  for (const ScoredRow& each : subjects)
    if (const double least = min_seconds(each); each.measured < least)
      found.emplace(each.row,
                    Contradiction{Skip::memory_rate,
                                  fmt::format("it took {:.2f} of the time to read its weights",
                                              each.measured / least * of_data_sheet)});
  return found;
}

}  // namespace headroom::sweep
