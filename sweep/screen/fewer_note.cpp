#include "sweep/screen/fewer_note.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "hardware/quantity_text.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/serving.hpp"
#include "sweep/output.hpp"
#include "sweep/ways.hpp"

namespace headroom::sweep {
namespace {

using model::Estimate;
using model::Scenario;

/// Less is within what rounding of a screen hides.
constexpr double worth_saying = 1.02;

/// Output tokens a second: of decoding for one request, else of whole requests.
double rate_of(const Scenario& s, const Estimate& e) {
  if (!model::fits(e.verdict)) return 0;
  return s.batch > 1 ? served_tokens_s(s, e) : e.tokens_s;
}

std::string_view unit_of(const Scenario& s) { return s.batch > 1 ? "output tokens/s" : "tokens/s"; }

/// Cards that were asked to share the work stay as they are.
bool says_division(const Scenario& s) {
  return s.tensor_parallel > 0 || s.pipeline_parallel > 0 || s.expert_parallel > 0 ||
         s.data_parallel > 0 || s.layer_split != nullptr || s.assignment != nullptr;
}

/// "CUDA_VISIBLE_DEVICES=0,1"; words where no variable hides cards of this maker.
std::string hiding_words(const Machine& machine, std::string_view kind) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < machine.devices.size(); ++i)
    if (machine.devices[i].name == kind) kept.push_back(i);
  const std::string& vendor = machine.devices[kept.front()].vendor;
  if (vendor != "nvidia" && vendor != "amd") return "a machine without the others";
  return fmt::format("{}_VISIBLE_DEVICES={}", vendor == "amd" ? "HIP" : "CUDA",
                     fmt::join(kept, ","));
}

/// The cards of one kind that are faster without the others.
std::optional<std::string> cards_of_one_kind(const Scenario& s, double now) {
  double most = worth_saying * now;
  std::string_view best;
  Size count = 0;
  for (const Device& kind : s.machine->devices) {
    model::MachineShare share{*s.machine, 1};
    std::erase_if(share.machine.devices,
                  [&](const Device& card) { return card.name != kind.name; });
    const Scenario alone = model::on(s, share);
    if (const double rate = rate_of(alone, model::evaluate(alone)); rate > most) {
      most = rate;
      best = kind.name;
      count = std::ssize(share.machine.devices);
    }
  }
  if (best.empty()) return std::nullopt;
  return fmt::format("{}x {} alone {} {} {}, as other cards hold {} up ({})", count, best,
                     count == 1 ? "reaches" : "reach", three_digits(most), unit_of(s),
                     count == 1 ? "it" : "them", hiding_words(*s.machine, best));
}

std::optional<std::string> fewer_cards(const Scenario& s, double now) {
  const auto cards = static_cast<Size>(s.machine->devices.size());
  if (cards < 2 || says_division(s)) return std::nullopt;
  for (const Device& card : s.machine->devices)
    if (card.name != s.machine->devices.front().name) return cards_of_one_kind(s, now);
  double most = worth_saying * now;
  Size best = 0;
  constexpr Size few = 8;
  for (Size fewer = 1; fewer < cards; ++fewer) {
    if (fewer > few && !std::has_single_bit(static_cast<std::uint64_t>(fewer))) continue;
    const model::MachineShare share = model::share_of(*s.machine, fewer, 1);
    const Scenario on_share = model::on(s, share);
    if (const double rate = rate_of(on_share, model::evaluate(on_share)); rate > most) {
      most = rate;
      best = fewer;
    }
  }
  if (best == 0) return std::nullopt;
  return fmt::format("{} of the {} cards alone {} {} {}, as cards wait for each other ({})", best,
                     cards, best == 1 ? "reaches" : "reach", three_digits(most), unit_of(s),
                     s.runtime->parallel.split == model::Split::tensors
                         ? fmt::format("--tp {}", best)
                         : fmt::format("a machine with {}", counted(best, "card")));
}

std::optional<std::string> fewer_requests(const Scenario& s, double now) {
  double most = worth_saying * now;
  Size best = 0;
  Scenario changed = s;
  for (changed.batch = s.batch / 2; changed.batch >= 1; changed.batch /= 2)
    if (const double rate = served_tokens_s(changed, model::evaluate(changed)); rate > most) {
      most = rate;
      best = changed.batch;
    }
  if (best == 0) return std::nullopt;
  return fmt::format("{0} at once {1} more together, {2} output tokens/s (--batch {0})", best,
                     best == 1 ? "gets" : "get", three_digits(most));
}

/// Options about the CPU's part that change no figure, as all layers run on cards.
std::optional<std::string> idle_options(const Scenario& s, const Estimate& e) {
  if (!model::is_on_gpus(e)) return std::nullopt;
  std::vector<std::string> idle;
  if (s.threads > 0) idle.push_back("--threads");
  if (!s.maps_files) idle.push_back("--no-mmap");
  if (idle.empty()) return std::nullopt;
  return fmt::format("{} {} no effect here: no layer runs on the CPU", fmt::join(idle, " and "),
                     idle.size() == 1 ? "has" : "have");
}

}  // namespace

std::vector<std::string> fewer_notes(const Scenario& s, const Estimate& e) {
  const double now = rate_of(s, e);
  std::vector<std::string> notes;
  if (auto idle = idle_options(s, e)) notes.push_back(std::move(*idle));
  if (!(now > 0)) return notes;
  if (auto cards = fewer_cards(s, now)) notes.push_back(std::move(*cards));
  if (s.batch > 1)
    if (auto requests = fewer_requests(s, now)) notes.push_back(std::move(*requests));
  return notes;
}

}  // namespace headroom::sweep
