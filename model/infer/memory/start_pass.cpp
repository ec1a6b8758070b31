#include "model/infer/memory/start_pass.hpp"

#include <algorithm>
#include <string>

namespace headroom::model {
namespace {

/// True if the card's name has "A100", as the driver reports it. An A800 is the same die under
/// another name.
bool is_named_a100(const Device& card) {
  return card.name.find("a100") != std::string::npos ||
         card.title.find("A100") != std::string::npos;
}

/// True if the first card has the larger of an engine's sizes. Source: vLLM 0.9 to 0.33
/// engine/arg_utils.py get_batch_defaults: 70 GiB and more, unless the name has "a100" in it; the
/// GB10 (12.1) is small from 0.33 on.
bool is_large(const Scenario& s) {
  const Device& card = s.machine->devices.front();
  const bool unified = card.compute_capability == ComputeCapability{12, 1};
  return card.memory >= Bytes(Size{70} << 30) && !is_named_a100(card) &&
         !(unified && s.runtime->memory.start_pass.unified_is_small);
}

}  // namespace

/// Source: as is_large; the largest from 160 GiB on.
Size stated_tokens(const Scenario& s) {
  if (!has_start_pass(s)) return 0;
  if (s.chunk_tokens > 0) return s.chunk_tokens;
  const StartPass& start = s.runtime->memory.start_pass;
  if (!is_large(s)) return start.tokens;
  const bool largest = s.machine->devices.front().memory >= Bytes(Size{160} << 30);
  return largest && start.tokens_on_largest > 0 ? start.tokens_on_largest : start.tokens_on_large;
}

Size start_sequences(const Scenario& s, const StartRules& rules) {
  return s.max_sequences > 0 ? s.max_sequences : std::max(s.batch, rules.usual_sequences);
}
Size start_sequences(const Scenario& s) { return start_sequences(s, StartRules(s)); }

Size start_tokens(const Scenario& s, const StartRules& rules, Size context) {
  const Size sequences = start_sequences(s, rules);
  const Size whole_context = context > longest_whole ? 0 : context;
  const Size tokens = std::max(rules.stated_tokens > 0 ? rules.stated_tokens : whole_context,
                               s.runtime->memory.start_pass.min_tokens);
  return std::max(sequences, context > tokens / sequences ? tokens : sequences * context);
}
Size start_tokens(const Scenario& s) { return start_tokens(s, StartRules(s), s.cached_tokens()); }

Size usual_sequences(const Scenario& s) {
  if (!has_start_pass(s)) return 0;
  const StartPass& start = s.runtime->memory.start_pass;
  return is_large(s) ? start.sequences_on_large : start.sequences;
}

namespace {

/// As captured_graphs(), of a number of sequences.
Size graphs_of(Size sequences) {
  constexpr Size most = 512;
  const auto sizes = [](Size largest) {
    const Size small = largest < 2 ? 1 : largest < 4 ? 2 : 3;
    return small + std::min<Size>(largest, 256) / 8 + std::max<Size>(0, largest - 256) / 16;
  };
  return sizes(std::min(sequences, most)) + sizes(std::min(2 * sequences, most));
}

}  // namespace

Size captured_graphs(const Scenario& s) { return graphs_of(start_sequences(s)); }

StartRules::StartRules(const Scenario& s)
    : has_pass(has_start_pass(s)),
      stated_tokens(headroom::model::stated_tokens(s)),
      usual_sequences(headroom::model::usual_sequences(s)) {
  const MemoryPolicy& memory = s.runtime->memory;
  if (s.enforce_eager || memory.graph_bytes.value <= 0) return;
  const Profile& profile = s.weights->model->profile;
  const auto [first, end] = profile.towers();
  const double layers = static_cast<double>(std::ssize(profile.layers) - (end - first)) /
                        static_cast<double>(s.stages());
  first_graph = memory.graph_bytes.value;
  further_graph = memory.graph_layer_bytes.value * layers;
}

Bytes process_on_card(const Scenario& s) {
  const MemoryPolicy& memory = s.runtime->memory;
  const bool counted =
      memory.start_pass.counts_host && has_start_pass(s) && s.machine->has_unified_memory();
  return counted ? Bytes(static_cast<Size>(memory.host_bytes.value)) : Bytes(0);
}

Bytes host_beside_pass(const Scenario& s) {
  if (!has_start_pass(s) || !s.machine->has_unified_memory()) return Bytes(0);
  return Bytes(static_cast<Size>(s.runtime->memory.host_of_unified_bytes.value));
}

double graphs_in_share(const Scenario& s, const StartRules& rules) {
  if (rules.first_graph <= 0) return 0;
  const auto further = static_cast<double>(graphs_of(start_sequences(s, rules)) - 1);
  return rules.first_graph + rules.further_graph * further;
}
double graphs_in_share(const Scenario& s) { return graphs_in_share(s, StartRules(s)); }

}  // namespace headroom::model
