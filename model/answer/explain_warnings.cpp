#include "model/answer/explain_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "model/answer/rest_for_host.hpp"
#include "model/checkpoint/model.hpp"
#include "model/checkpoint/position_table.hpp"
#include "model/engine/engine.hpp"
#include "model/engine/runs_on.hpp"
#include "model/infer/intervals.hpp"

namespace headroom::model {
namespace {

/// A budget is for each card, and a smaller card takes what it has of it. A warning is due where
/// even the largest card has less.
std::string budget_warning(const Scenario& s, const std::vector<DeviceUse>& devices) {
  const auto& cards = s.machine->devices;
  const bool uses_a_card =
      std::ranges::any_of(devices, [](const DeviceUse& each) { return each.where == Where::card; });
  if (!uses_a_card || s.gpu_budget == unlimited) return {};
  const Device& largest = *std::ranges::max_element(cards, {}, usable_memory);
  if (s.gpu_budget <= usable_memory(largest)) return {};
  return fmt::format("a budget of {} is cut to {}, of {}, that {} leaves to programs",
                     to_text(s.gpu_budget), to_text(usable_memory(largest)),
                     to_text(largest.memory), largest.name);
}

/// Not where weights spill to the disk of a machine whose cards have memory of their own: host
/// memory is filled by intent there.
std::string system_warning(const Scenario& s, const std::vector<DeviceUse>& devices) {
  if (!s.machine->has_unified_memory() && devices.back().where == Where::disk) return {};
  Bytes used;
  for (const DeviceUse& each : devices)
    if (each.where == Where::cpu || (each.where == Where::card && s.machine->has_unified_memory()))
      used += each.total;
  const Bytes ram = s.machine->host.ram;
  const Bytes left = std::max(ram, used) - used;
  if (left >= rest_for_host(*s.machine)) return {};
  return fmt::format("{} of {} of memory is left for the operating system and other programs",
                     to_text(left), to_text(ram));
}

/// True if a driver reports less than the card's size, and no source gives that figure. A card that
/// shares the host's memory has a limit of the system instead.
bool reports_less(const Device& card) {
  return card.memory_nominal && card.visible == Bytes(0) && !card.unified_memory;
}

/// Sentences about what a program must be given to see so much of a card, one for each kind.
std::vector<std::string> needs_of_memory(const std::vector<Device>& cards) {
  std::vector<std::string> all;
  for (const Device& card : cards)
    if (!card.visible_needs.empty())
      all.push_back(fmt::format("{}: {} of GPU memory need {}", card.name,
                                to_text(usable_memory(card)), card.visible_needs));
  return each_once(std::move(all));
}

}  // namespace

std::vector<std::string> scenario_warnings(const Scenario& s) {
  std::vector<std::string> all;
  const Model& model = *s.weights->model;
  const Size positions = model.shape.positions;
  if (!s.within_positions() && !has_position_table(model))
    all.push_back(fmt::format(
        "context of {} tokens exceeds the model's {} positions: outputs beyond them are not "
        "reliable",
        s.cached_tokens(), positions));
  for (std::string& doubt : doubts(model)) all.push_back(std::move(doubt));
  if (std::string warning = class_warning(*s.runtime, model); !warning.empty())
    all.push_back(std::move(warning));
  if (interval_factors(s).memory.measurements == 0)
    all.push_back(
        fmt::format("the memory of {} is an estimate without measurements: its interval is wider "
                    "than any engine's",
                    s.runtime->name));
  const auto& cards = s.machine->devices;
  if (const auto card = std::ranges::find_if(cards, reports_less); card != cards.end())
    all.push_back(fmt::format("{}: memory is the nominal size; the driver reports a little less",
                              card->name));
  for (std::string& need : needs_of_memory(cards)) all.push_back(std::move(need));
  if (s.prompt_tokens + s.output_tokens > s.cached_tokens())
    all.push_back(
        fmt::format("context of {} tokens is shorter than prompt and output together ({})",
                    s.cached_tokens(), s.prompt_tokens + s.output_tokens));
  return all;
}

std::vector<std::string> memory_warnings(const Scenario& s, const std::vector<DeviceUse>& devices) {
  std::vector<std::string> all;
  for (auto warning : {budget_warning(s, devices), system_warning(s, devices)})
    if (!warning.empty()) all.push_back(std::move(warning));
  return all;
}

}  // namespace headroom::model
