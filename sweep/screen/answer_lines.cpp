#include "sweep/screen/answer_lines.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hardware/quantity_text.hpp"
#include "hardware/units.hpp"
#include "model/infer/placement/assignment.hpp"
#include "model/infer/usable_speed.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/card_memory.hpp"
#include "sweep/screen/interval_words.hpp"

namespace headroom::sweep {
std::string in_gib(Bytes bytes) {
  const double gib = real_count(bytes) / GiB;
  if (gib > 0 && gib < 0.05) return "<0.1";
  return gib < 999.95 ? fmt::format("{:.1f}", gib) : grouped(std::llround(gib));
}

std::string enough_gib(Bytes bytes) {
  const double unit = real_count(bytes) < 999.95 * GiB ? GiB / 10 : GiB;
  return in_gib(Bytes(static_cast<Size>(unit * std::ceil(real_count(bytes) / unit))));
}

std::string speed_of(const model::Estimate& e, const model::Interval& tpot, std::string_view unit) {
  return rate_with_interval(e.tokens_s, tpot, unit);
}

std::string size_words(const model::Model& m) {
  const double billions = static_cast<double>(m.profile.parameters) / 1e9;
  return billions < 1 ? three_digits(1e3 * billions) + " M" : three_digits(billions) + " B";
}

std::string token_time_words(Seconds tpot) { return duration(tpot.value()) + " a token"; }

std::string copies_words(const model::Scenario& s) {
  return s.data_parallel > 1 ? fmt::format(" on each of {} copies", s.data_parallel) : "";
}

std::string layers_cell(const model::Estimate& e, const model::Plan& plan) {
  Size experts = plan.host_experts.size();
  if (plan.assignment != nullptr)
    for (std::size_t i = 0; i < plan.assignment->experts.size(); ++i)
      experts += plan.assignment->layer[i] >= 0 && plan.assignment->experts[i] == model::on_cpu;
  return fmt::format("{} / {} / {}{}", e.layers_gpu, e.layers_cpu, e.layers_disk,
                     experts > 0 ? fmt::format(", {} MoE on CPU", experts) : "");
}

std::string given_machine(const Machine& machine) {
  return machine.host_assumed ? std::string(cards_in_name(machine.name)) : machine.name;
}

std::string budget_argument(const GivenScenario& given, Bytes budget) {
  if (given.machine->devices.empty() || budget >= card_budget(given.scenario, 0)) return {};
  constexpr Size mib = Size{1} << 20;
  return fmt::format(" --gpu-budget {}MiB", divided_up(budget.count(), mib));
}

std::string launch_words(const GivenScenario& given, Bytes budget) {
  const std::string argument = budget_argument(given, budget);
  return fmt::format("headroom launch {}{}{}", given.asked, argument,
                     argument.empty() ? "" : " (without it all of the card is used)");
}

std::string title_line(const GivenScenario& given) {
  const model::Model& m = *given.model;
  std::string size = size_words(m) + " parameters";
  if (m.profile.parameters_active != m.profile.parameters)
    size += fmt::format(", {} B active",
                        three_digits(static_cast<double>(m.profile.parameters_active) / 1e9));
  return paragraph(fmt::format("{} ({}) on {}", m.name, size, given.machine->name));
}

std::string way_words(const model::QuantisedModel& weights, const model::Engine& engine) {
  return fmt::format("{} under {}", weights.scheme->name, engine.name);
}

std::string on_each_gpu(std::size_t gpus) {
  return gpus > 1 ? fmt::format(" on each of {} GPUs", gpus) : std::string();
}

std::string in_boxes(const Machine& machine, std::size_t gpus) {
  const auto used = static_cast<Size>(gpus);
  const Boxes boxes = boxes_of(machine.host, used);
  if (!boxes.several()) return {};
  return fmt::format(" in {} boxes of {}{}", boxes.count,
                     used == boxes.count * boxes.cards ? "" : "up to ", boxes.cards);
}

std::string_view memory_heading(Size most_gpus) { return most_gpus > 0 ? "each GPU" : "RAM"; }

std::string memory_cell(const model::Estimate& e, Size most_gpus) {
  if (e.gpus_used > 0) return in_gib(e.gpu_bytes) + " GiB";
  return in_gib(e.cpu_bytes) + (most_gpus > 0 ? " GiB RAM" : " GiB");
}

std::string placement_note(const model::Estimate& e, const WayNotes& notes) {
  std::string note = e.gpus_used == 0        ? "on the CPU"
                     : !model::is_on_gpus(e) ? "offload"
                     : notes.tight           ? "tight"
                                             : "";
  const auto add = [&](std::string_view words) {
    note += fmt::format("{}{}", note.empty() ? "" : ", ", words);
  };
  if (model::is_too_slow(e)) add("too slow");
  if (notes.without_towers) add("text only");
  if (notes.below_four_bits) add("below 4 bits");
  return note;
}

std::string own_placement_line(const GivenScenario& given, const model::Estimate& shown) {
  const model::Estimate own = model::evaluate(given.scenario);
  if (!model::fits(own.verdict)) return {};
  if (own.gpu_bytes == shown.gpu_bytes && own.tokens_s == shown.tokens_s) return {};
  const model::TimeIntervals of = model::interval_factors(given.scenario).times(own);
  const std::string speed = own.tokens_s > 0 ? speed_of(own, of.tpot, " tokens/s")
                                             : time_with_interval(own.ttft, of.ttft) + " a prompt";
  return paragraph(fmt::format("`estimate` shows the placement that {} makes: {}, {}.",
                               given.scenario.runtime->name,
                               own.gpus_used > 0 ? card_memory(given.scenario, own)
                                                 : memory_cell(own, own.gpus_used) + " of RAM",
                               speed));
}

std::string paragraph(std::string_view text) { return wrapped(text, 0, 2); }

/// Memory of the fullest card and of the host, by what it is for.
std::string memory_lines(const model::Explanation& explained) {
  const model::DeviceUse* fullest = nullptr;
  std::vector<const model::DeviceUse*> shown;
  for (const model::DeviceUse& use : explained.devices) {
    if (use.where == model::Where::card) {
      if (!fullest || use.total > fullest->total) fullest = &use;
    } else if (use.weights > Bytes(0)) {
      shown.push_back(&use);
    }
  }
  if (fullest) shown.insert(shown.begin(), fullest);
  std::vector<std::vector<std::string>> rows;
  const bool several = explained.estimate.gpus_used > 1;
  for (const auto* use : shown)
    rows.push_back({use->where != model::Where::card ? std::string(device_kind(use->where))
                    : several                        ? "fullest GPU"
                                                     : use->name,
                    in_gib(use->weights), in_gib(use->kv_cache),
                    in_gib(use->activations + use->overhead), in_gib(use->total),
                    in_gib(use->budget),
                    bar(use->total.real().value(), use->budget.real().value())});
  return aligned({"GiB", "weights", "KV cache", "work", "total", "of", ""},
                 {false, true, true, true, true, true, false}, rows);
}

namespace {

/// ", ollama's default for 48.0 GiB of GPU memory", where an engine's own context was taken.
std::string default_words(const model::Scenario& s) {
  if (s.context > 0 || s.cached_tokens() != s.default_context()) return {};
  Bytes memory(0);
  for (const Device& card : s.machine->devices) memory += usable_memory(card);
  const bool depends = s.runtime->serving.default_contexts.size() > 1;
  return fmt::format(", {}'s default{}", s.runtime->name,
                     depends ? fmt::format(" for {} GiB of GPU memory", in_gib(memory)) : "");
}

}  // namespace

std::string assumption_lines(const GivenScenario& given) {
  const model::Scenario& s = given.scenario;
  const bool writes = s.weights->model->writes();
  std::string text = fmt::format(
      "Assumes a prompt of {}, {}{}{} ({})", grouped(s.prompt_tokens, "token"),
      writes ? grouped(s.output_tokens, "output token") + ", " : "",
      s.batch == 1 ? std::string("one request at a time")
                   : fmt::format("{} sequences at once", grouped(s.batch)),
      copies_words(s),
      writes ? "--prompt-tokens, --output-tokens, --batch" : "--prompt-tokens, --batch");
  if (s.context > 0 || s.default_context() > 0)
    text += fmt::format(", a context of {} tokens{}{} (--context)", grouped(s.cached_tokens()),
                        s.batch > 1 ? " each" : "", default_words(s));
  std::string all = paragraph(text + '.');
  if (!s.machine->devices.empty() && s.stages() > std::max<Size>(1, s.pipeline_parallel))
    all +=
        paragraph(fmt::format("Assumes --tp {} --pp {}: a stage of layers in each box, as "
                              "exchanges between boxes are slow.",
                              model::place(s, 1.0).shards, s.stages()));
  for (const auto& line : given.assumed) all += paragraph("Assumes " + line + '.');
  return all;
}

}  // namespace headroom::sweep
