// The words and numbers behind an estimate: the same arithmetic as evaluate, with every term kept.
#include "model/answer/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "hardware/quantity_text.hpp"
#include "hardware/units.hpp"
#include "model/answer/advice.hpp"
#include "model/answer/explain_memory.hpp"
#include "model/answer/explain_times.hpp"
#include "model/answer/explain_warnings.hpp"
#include "model/answer/extra_terms.hpp"
#include "model/answer/placement/parallel_splits.hpp"
#include "model/checkpoint/quantisation/stored.hpp"
#include "model/describe/layer_numbers.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/memory/static_share.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/placement/assignment.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

/// Collects the terms of one scenario.
class Explainer {
 public:
  explicit Explainer(const Scenario& s)
      : asked_(s),
        s_(admitted_scenario(s)),
        runtime_(*s.runtime),
        profile_(s.weights->model->profile),
        factors_(interval_factors(s)),
        plan_(place(s_, 1.0)) {}

  Explanation explanation(WithAdvice with_advice) {
    out_.estimate = evaluate(asked_);
    add_assumptions();
    out_.warnings = scenario_warnings(s_);
    if (out_.estimate.verdict == Verdict::refused) {
      if (with_advice == WithAdvice::yes) out_.advice = advice(asked_, out_.estimate);
      return std::move(out_);
    }
    add_devices();
    for (std::string& warning : memory_warnings(s_, out_.devices))
      out_.warnings.push_back(std::move(warning));
    out_.notes = room_notes(s_, plan_, out_.devices);
    if (out_.estimate.queued > 0)
      out_.notes.push_back(
          fmt::format("{} would start and run {} of {} sequences of {} tokens concurrently{}; the "
                      "others wait. Bytes and times above cover the running sequences",
                      runtime_.name, s_.batch, asked_.batch, s_.cached_tokens(),
                      plan_.replicas > 1 ? " on each replica" : ""));
    add_memory_terms(s_, plan_, out_);
    if (out_.estimate.verdict != Verdict::does_not_fit) add_time_terms(s_, plan_, out_);
    if (with_advice == WithAdvice::yes) out_.advice = advice(asked_, out_.estimate);
    return std::move(out_);
  }

 private:
  void add_assumptions() {
    const Model& model = *s_.weights->model;
    auto say = [&](std::string text) { out_.assumptions.push_back(std::move(text)); };
    const bool stored = keeps_checkpoint_formats(model, *s_.weights->scheme);
    say(fmt::format("weights in {} ({})", s_.weights->scheme->name,
                    stored ? "each tensor as the checkpoint has it" : s_.weights->scheme->meaning));
    if (model.modules_alone && s_.weights->scheme->family == SchemeFamily::bitsandbytes)
      say("experts that one parameter stacks stay in 16 bit: bitsandbytes replaces linear modules "
          "alone (its issue 1849)");
    say("KV cache in " + cache_format(s_));
    if (const Bytes tables = tables_on_host(s_); tables > Bytes(0))
      say(fmt::format("{} of tables that are looked up stay in host memory", to_text(tables)));
    say(fmt::format("runtime {} {}", runtime_.name, runtime_.version));
    say(fmt::format(
        "batch {}, prompt {}{}, context {} a sequence", asked_.batch,
        counted(s_.prompt_tokens, "token"),
        model.writes() ? fmt::format(", output {}", counted(s_.output_tokens, "token")) : "",
        counted(s_.cached_tokens(), "token")));
    if (s_.machine->host_assumed && !s_.machine->host_for_cards)
      say(fmt::format("host {} (the usual one, as none was given)", s_.machine->host.name));
    add_budgets(say);
    add_static_share(say);
    if (out_.estimate.verdict != Verdict::refused) say(split_words());
    say(score_bytes(s_) > 0 ? "attention that stores its scores in memory"
                            : "flash or memory-efficient attention");
    say("weights read from a cold disk");
    if (s_.enforce_eager) say("kernels are launched one by one, without CUDA graphs");
    if (s_.max_sequences > 0)
      say("at most " + counted(s_.max_sequences, "sequence") +
          (s_.max_sequences == 1 ? " runs at once" : " run at once"));
    if (s_.chunk_tokens > 0) say("prefill passes of " + counted(s_.chunk_tokens, "token"));
    if (s_.batch_parts > 1) say(fmt::format("layers take the batch in {} parts", s_.batch_parts));
    if (s_.threads > 0)
      say(fmt::format("{} of {} on the CPU", counted(s_.threads, "thread"),
                      counted(s_.machine->host.cores, "physical core")));
    if (model.encoder_decoder) say("the prompt is the encoder's input");
    if (const auto [first, end] = profile_.towers(); first < end && !model.encoder_decoder)
      say(s_.images.count > 0 ? "images go through the vision tower in prefill"
                              : "text only: vision and audio towers are in memory but do not run");
    const TimeIntervals times = factors_.times(out_.estimate);
    say(fmt::format(
        "intervals are 80 %: memory from {}, first token from {}, tokens/s from {}, load from "
        "{} ({})",
        counted(factors_.memory.measurements, "measured row"), times.ttft.measurements,
        times.tpot.measurements, times.load.measurements, in_short(factors_.source)));
  }

  /// One budget for like cards, else one for each kind.
  void add_budgets(const auto& say) {
    const auto& cards = s_.machine->devices;
    const auto of_kind = [&](std::size_t i) {
      return std::ranges::find(cards, cards[i].name, &Device::name);
    };
    const bool alike = s_.machine->has_one_kind();
    for (std::size_t i = 0; i < cards.size(); ++i)
      if (of_kind(i) == cards.begin() + static_cast<std::ptrdiff_t>(i))
        say(fmt::format("GPU budget {} of {} on {}", to_text(card_budget(s_, i)),
                        to_text(usable_memory(cards[i])), alike ? "each card" : cards[i].name));
  }

  void add_static_share(const auto& say) {
    const CardReserve* sizes = card_reserve(s_);
    if (sizes == nullptr || plan_.cards == 0) return;
    const CardUse use = card_use(s_, plan_, plan_.first_used_card);
    const Bytes memory = usable_memory(s_.machine->devices.front());
    say(fmt::format(
        "weights and KV cache get a share of {:.3f} of the {} that are free at start: {}{}",
        static_share(s_, plan_.grid()), to_text(memory - use.context),
        to_text(static_pool(s_, plan_.grid(), memory, use.context)),
        s_.gpu_share > 0 ? ", as asked" : ""));
    const StaticPool& pool = s_.runtime->memory.pool;
    if (use.state_slots > Bytes(0))
      say(fmt::format(
          "of what weights leave, recurrent states get {:.2g} times as much as keys and "
          "values, and each sequence has {} slots of them",
          pool.state_ratio, pool.state_slots));
    say(fmt::format("prefill in chunks of {} tokens, CUDA graphs for up to {} sequences",
                    prefill_chunk(s_), sizes->graph_batch_on(plan_.grid().tensor_cards())));
  }

  /// The first of sources, those with the most rows, and how many follow.
  static std::string in_short(std::string_view sources) {
    std::size_t end = 0, shown = 0;
    while (shown < 4 && end != std::string_view::npos) {
      end = sources.find(", ", end + 1);
      ++shown;
    }
    if (end == std::string_view::npos) return std::string(sources);
    const auto more = std::ranges::count(sources.substr(end), ',');
    return fmt::format("{} and {} more", sources.substr(0, end), more);
  }

  std::string split_words() const {
    if (s_.layer_split != nullptr)
      return "layers go where the options say, as llama.cpp reads them";
    if (runtime_.offload.mode == Offload::compute)
      return plan_.host_experts.size() > 0
                 ? "all cards are used, and experts are the first to be in host memory"
                 : "all cards are used, for as many of the last layers as fit";
    if (runtime_.parallel.split == Split::layers)
      return "cards are filled in order, with as few cards as the model needs; layers are not "
             "split";
    if (plan_.stages == 1 &&
        asked_.tensor_parallel + s_.pipeline_parallel + s_.expert_parallel + s_.data_parallel == 0)
      return plan_.shards == 1
                 ? std::string("each matrix is whole on one card")
                 : fmt::format("each matrix is split over the {} cards that divide the model",
                               plan_.shards);
    return fmt::format(
        "{}: {} split each matrix, {} of layers, {} with {} each{}", counted(plan_.cards, "card"),
        plan_.shards, counted(plan_.stages, "stage"), counted(plan_.replicas, "replica"),
        counted(s_.batch, "sequence"),
        plan_.expert_groups > 1
            ? fmt::format("; experts are spread whole over {} groups of them", plan_.expert_groups)
            : std::string());
  }

  void add_devices() {
    for (Size card = plan_.first_used_card; card < plan_.cards; ++card) {
      const auto i = static_cast<std::size_t>(card);
      const CardUse use = card_use(s_, plan_, card);
      DeviceUse row{.name = fmt::format("gpu {}: {}", card, s_.machine->devices[i].name),
                    .where = Where::card,
                    .capacity = usable_memory(s_.machine->devices[i]),
                    .budget = card_budget(s_, i),
                    .reserved = reserved_at_start(s_, plan_, use, i),
                    .weights = use.weights,
                    .kv_cache = use.kv_cache,
                    .activations = use.activations,
                    .overhead = use.context + use.fragmentation,
                    .total = use.total(),
                    .card = card};
      std::string_view stack;
      for_pieces_on_card(plan_, card,
                         [&](const LayerSpan& piece) { add_card_layers(row, piece, stack); });
      out_.devices.push_back(row);
    }
    const HostUse host = host_use(s_, plan_);
    Bytes left = std::min(s_.ram_budget, s_.machine->host.ram);
    for (const DeviceUse& card : out_.devices)
      if (s_.machine->has_unified_memory()) left = std::max(Bytes(0), left - card.total);
    DeviceUse cpu{.name = fmt::format("cpu: {}", s_.machine->host.name),
                  .where = Where::cpu,
                  .capacity = s_.machine->host.ram,
                  .budget = left,
                  .weights = host.weights,
                  .kv_cache = host.kv_cache,
                  .activations = host.activations,
                  .overhead = host.process,
                  .total = host.total()};
    std::string_view stack;
    for_pieces_in(plan_, Where::cpu,
                  [&](const LayerSpan& piece) { add_layers(cpu, piece, stack); });
    add_range(cpu, {plan_.host_experts, Content::experts}, stack);
    out_.devices.push_back(cpu);
    if (disk_use(s_, plan_) == Bytes(0)) return;
    DeviceUse disk{.name = "disk",
                   .where = Where::disk,
                   .capacity = s_.machine->host.disk,
                   .budget = std::min(s_.disk_budget, s_.machine->host.disk),
                   .weights = disk_use(s_, plan_),
                   .kv_cache = Bytes(0),
                   .activations = Bytes(0),
                   .overhead = Bytes(0),
                   .total = disk_use(s_, plan_)};
    stack = {};
    for_pieces_in(plan_, Where::disk,
                  [&](const LayerSpan& piece) { add_layers(disk, piece, stack); });
    out_.devices.push_back(disk);
  }

  /// Layers of a card. Those whose experts the engine keeps in host memory are named apart.
  void add_card_layers(DeviceUse& row, const LayerSpan& piece, std::string_view& stack) const {
    const Range layers = piece.layers, kept = plan_.host_experts;
    const Size from = std::clamp(kept.first, layers.first, layers.last);
    const Size to = std::clamp(kept.last, from, layers.last);
    if (piece.content != Content::whole || from == to) return add_layers(row, piece, stack);
    add_layers(row, {{layers.first, from}, Content::whole}, stack);
    add_layers(row, {{from, to}, Content::dense}, stack);
    add_layers(row, {{to, layers.last}, Content::whole}, stack);
  }

  /// `stack`: that of the piece before, which becomes that of this one.
  void add_layers(DeviceUse& row, const LayerSpan& piece, std::string_view& stack) const {
    if (piece.layers.size() <= 0) return;
    add_range(row, piece, stack);
    for (Size i = piece.layers.first; i < piece.layers.last; ++i) {
      const Layer& layer = profile_.layers[static_cast<std::size_t>(i)];
      if (!layer.stack.empty()) continue;
      row.first_layer =
          row.first_layer < 0 ? layer.number : std::min(row.first_layer, layer.number);
      row.last_layer = std::max(row.last_layer, layer.number);
    }
  }

  /// Adds the layers' numbers to the text.
  void add_range(DeviceUse& row, const LayerSpan& piece, std::string_view& stack) const {
    if (piece.layers.size() <= 0) return;
    std::string range = layer_words(profile_, piece.layers, stack);
    stack = last_stack(profile_, piece.layers, stack);
    if (piece.content == Content::dense) range += " without experts";
    if (piece.content == Content::experts) range += " (experts)";
    row.layers += (row.layers.empty() ? "" : ", ") + range;
  }

  const Scenario& asked_;
  const Scenario s_;  ///< with the sequences that run concurrently
  const Engine& runtime_;
  const Profile& profile_;
  IntervalFactors factors_;
  Plan plan_;
  Explanation out_;
};

}  // namespace

std::string_view device_kind(Where where) {
  constexpr std::string_view kinds[] = {"gpu", "cpu", "disk"};
  return kinds[static_cast<std::size_t>(where)];
}

Explanation explain(const Scenario& scenario, WithAdvice with_advice) {
  return Explainer(scenario).explanation(with_advice);
}

}  // namespace headroom::model
