#include "sweep/screen/fewer_note.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "hardware/quantity_text.hpp"
#include "model/answer/way_order.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/serving.hpp"
#include "model/infer/usable_speed.hpp"
#include "sweep/best_way.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/screen/option_notes.hpp"
#include "sweep/ways.hpp"

namespace headroom::sweep {
namespace {

using model::Estimate;
using model::Scenario;
using model::worth_saying;

/// Output tokens a second: of decoding for one request, else of whole requests. 0: there are none.
double rate_of(const Scenario& s, const Estimate& e) {
  if (!model::fits(e.verdict) || !s.weights->model->writes()) return 0;
  return s.batch > 1 ? served_tokens_s(s, e) : e.tokens_s;
}

std::string_view unit_of(const Scenario& s) { return s.batch > 1 ? "output tokens/s" : "tokens/s"; }

/// Cards that were asked to share the work stay as they are.
bool says_division(const Scenario& s) {
  return s.tensor_parallel > 0 || s.pipeline_parallel > 0 || s.expert_parallel > 0 ||
         s.data_parallel > 0 || s.layer_split != nullptr || s.assignment != nullptr;
}

/// "CUDA_VISIBLE_DEVICES=0,1"; words where no variable hides cards of this maker.
std::string hiding_words(const Machine& machine, const std::vector<std::size_t>& kept) {
  const std::string& vendor = machine.devices[kept.front()].vendor;
  if (vendor != "nvidia" && vendor != "amd") return "a machine without the others";
  return fmt::format("{}_VISIBLE_DEVICES={}", vendor == "amd" ? "HIP" : "CUDA",
                     fmt::join(kept, ","));
}

std::vector<std::size_t> cards_of(const Machine& machine, std::string_view kind) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < machine.devices.size(); ++i)
    if (machine.devices[i].name == kind) all.push_back(i);
  return all;
}

model::MachineShare share_of_kind(const Machine& machine, std::string_view kind) {
  model::MachineShare share{machine, 1};
  std::erase_if(share.machine.devices, [&](const Device& card) { return card.name != kind; });
  return share;
}

/// One of the boxes, whose host has a part of the totals.
model::MachineShare one_box(const Machine& machine) {
  model::MachineShare share = model::share_of(
      machine, boxes_of(machine.host, std::ssize(machine.devices)).cards, machine.host.boxes);
  Host& host = share.machine.host;
  host.disk = Bytes(host.disk.count() / machine.host.boxes);
  host.boxes = 1;
  return share;
}

/// The cards of one kind that are faster without the others.
std::optional<std::string> cards_of_one_kind(const Scenario& s, double now) {
  double most = worth_saying * now;
  std::string_view best;
  Size count = 0;
  for (const Device& kind : s.machine->devices) {
    const model::MachineShare share = share_of_kind(*s.machine, kind.name);
    const Scenario alone = model::on(s, share);
    if (const double rate = rate_of(alone, model::evaluate(alone)); rate > most) {
      most = rate;
      best = kind.name;
      count = std::ssize(share.machine.devices);
    }
  }
  if (best.empty()) return std::nullopt;
  const std::string why =
      now > 0 ? fmt::format(", as other cards hold {} up", count == 1 ? "it" : "them") : "";
  return fmt::format("{}x {} alone {} {} {}{} ({})", count, best, count == 1 ? "reaches" : "reach",
                     three_digits(most), unit_of(s), why,
                     hiding_words(*s.machine, cards_of(*s.machine, best)));
}

std::string one_box_words(const Machine& machine, std::string_view speed) {
  return fmt::format("one of the {} boxes alone reaches {} (--machine \"{}x {} @ {}\")",
                     machine.host.boxes, speed, one_box(machine).machine.devices.size(),
                     machine.devices.front().name, machine.host.name);
}

/// `now`: 0 where the model does not run on all cards.
std::optional<std::string> fewer_cards(const Scenario& s, double now) {
  const auto cards = static_cast<Size>(s.machine->devices.size());
  if (cards < 2 || says_division(s)) return std::nullopt;
  if (s.machine->host.boxes > 1 && now == 0) {
    const model::MachineShare box = one_box(*s.machine);
    const Scenario alone = model::on(s, box);
    const double rate = rate_of(alone, model::evaluate(alone));
    if (rate == 0) return std::nullopt;
    return one_box_words(*s.machine, fmt::format("{} {}", three_digits(rate), unit_of(s)));
  }
  if (!s.machine->has_one_kind()) return cards_of_one_kind(s, now);
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
  std::vector<std::size_t> first(static_cast<std::size_t>(best));
  std::iota(first.begin(), first.end(), 0U);
  return fmt::format(
      "{} of the {} cards alone {} {} {}{} ({})", best, cards, best == 1 ? "reaches" : "reach",
      three_digits(most), unit_of(s), now > 0 ? ", as cards wait for each other" : "",
      s.runtime->parallel.split == model::Split::tensors ? fmt::format("--tp {}", best)
                                                         : hiding_words(*s.machine, first));
}

/// The best way on a part of the machine, of weights as wide as now, if it serves more. Nothing if
/// engine and weights are those of now: fewer_cards() has them.
std::optional<std::string> other_way_on(const AskedWay& asked, const GivenScenario& given,
                                        const model::MachineShare& share, const Estimate& e) {
  Scenario s = given.scenario;
  s.machine = &share.machine;
  s.gpu_budget = model::unlimited;  // the one of now is the way's
  const auto ways =
      best_ways(asked, *given.engines, *given.model, s, OffloadedWays::accepted, Narrower::always);
  const double now = rate_of(given.scenario, e);
  for (const Way& way : ways.front()) {
    const bool as_good = way.bits >= given.ways.front().bits && way.estimate.queued <= e.queued &&
                         model::is_on_gpus(way.estimate) >= model::is_on_gpus(e);
    if (!as_good || (way.tight && !given.ways.front().tight)) continue;
    if (way.engine == given.scenario.runtime &&
        way.weights->scheme == given.scenario.weights->scheme)
      return std::nullopt;
    run_by(s, way);
    const double rate = rate_of(s, way.estimate);
    if (rate <= worth_saying * now) return std::nullopt;
    return fmt::format("{} {} with {}", three_digits(rate), unit_of(s),
                       way_words(*way.weights, *way.engine));
  }
  return std::nullopt;
}

/// One box, or the cards of one kind, with another engine that does better there.
std::optional<std::string> fewer_with_another(const Options& options, const GivenScenario& given,
                                              const Estimate& e) {
  const Scenario& s = given.scenario;
  const Machine& machine = *s.machine;
  if (given.ways.empty() || says_division(s) || s.draft != nullptr || given.adapters ||
      machine.devices.size() < 2 || options.given("gpu-budget"))
    return std::nullopt;
  const AskedWay asked = asked_way(options, *given.engines);
  if (machine.host.boxes > 1) {
    const auto speed = other_way_on(asked, given, one_box(machine), e);
    return speed ? std::optional(one_box_words(machine, *speed)) : std::nullopt;
  }
  if (machine.has_one_kind()) return std::nullopt;
  std::set<std::string_view> kinds;
  for (const Device& card : machine.devices) kinds.insert(card.name);
  for (const std::string_view kind : kinds)
    if (const auto speed = other_way_on(asked, given, share_of_kind(machine, kind), e)) {
      const auto kept = cards_of(machine, kind);
      return fmt::format("{}x {} alone {} {} ({})", kept.size(), kind,
                         kept.size() == 1 ? "reaches" : "reach", *speed,
                         hiding_words(machine, kept));
    }
  return std::nullopt;
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

/// Replicas of the attention that serve more (model::MachineShare).
std::optional<std::string> replicas_of_attention(const Scenario& s, double now) {
  const Size cards = std::ssize(s.machine->devices);
  if (says_division(s) || !s.machine->has_one_kind() || !model::may_replicate_attention(s))
    return std::nullopt;
  double most = worth_saying * now;
  Size best = 0;
  Scenario changed = s;
  changed.expert_parallel = cards;
  for (Size replicas = 2; replicas <= cards; ++replicas) {
    if (cards % replicas != 0 || s.batch % replicas != 0) continue;
    changed.data_parallel = replicas;
    changed.batch = s.batch / replicas;
    const Estimate e = model::evaluate(changed);
    if (!model::is_on_gpus(e)) continue;
    if (const double rate = served_tokens_s(changed, e); rate > most) {
      most = rate;
      best = replicas;
    }
  }
  if (best == 0) return std::nullopt;
  return fmt::format(
      "{} output tokens/s with {} replicas of the attention, as tensor parallelism copies the "
      "latent cache to every card (--dp {} --ep {} --batch {})",
      three_digits(most), best, best, cards, s.batch / best);
}

/// A plan of several requests asks for the speed at which people read, and may choose another way.
std::optional<std::string> slower_than_reading(const Scenario& s, const Estimate& e) {
  const double speed = 1 / model::service_of(s, e).tpot.value();
  if (speed >= model::reading_tokens_s || model::is_too_slow(e)) return std::nullopt;
  return fmt::format(
      "each request gets {} tokens/s, and people read {:.0f}: `headroom plan best-precision` asks "
      "for that (--users {})",
      three_digits(speed), model::reading_tokens_s, s.batch * std::max<Size>(1, s.data_parallel));
}

}  // namespace

std::vector<std::string> fewer_notes(const Options& options, const GivenScenario& given,
                                     const Estimate& e) {
  const Scenario& s = given.scenario;
  const double now = rate_of(s, e);
  std::vector<std::string> notes = option_notes(s, e);
  if (auto cards = fewer_cards(s, now)) notes.push_back(std::move(*cards));
  if (!(now > 0)) return notes;
  if (auto cards = fewer_with_another(options, given, e)) notes.push_back(std::move(*cards));
  if (s.batch > 1) {
    if (auto slow = slower_than_reading(s, e)) notes.push_back(std::move(*slow));
    if (auto requests = fewer_requests(s, now)) notes.push_back(std::move(*requests));
    if (auto replicas = replicas_of_attention(s, now)) notes.push_back(std::move(*replicas));
  }
  return notes;
}

bool fewer_cards_serve_more(const Scenario& s, const Estimate& e) {
  return model::fits(e.verdict) && fewer_cards(s, rate_of(s, e)).has_value();
}

}  // namespace headroom::sweep
