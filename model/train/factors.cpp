#include "model/train/factors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include "hardware/names.hpp"
#include "model/infer/memory/rounding.hpp"
#include "model/train/passes.hpp"

namespace headroom::model {
namespace {

constexpr FactorKey keys[] = {
    {"activation_factor", "all activations: tokens * hidden * layers * X * bytes of an element"},
    {"attention_factor_fused", "with flash attention: tokens * hidden * layers * X * bytes"},
    {"attention_factor_scores",
     "without flash attention: this, and batch * heads * sequence^2 * layers * bytes of scores"},
    {"feed_forward_factor", "feed-forward: tokens * hidden * layers * X * bytes"},
    {"recomputation_factor", "share of activations that checkpointing leaves"},
    {"logits_factor", "logits and loss: tokens * vocabulary * X bytes"},
    {"fused_loss_factor", "share of logits and loss that a fused loss leaves"},
    {"optimizer_factor", "states: X * parameters * bytes of an element"},
    {"base_bytes", "frozen weights: X bytes a parameter"},
    {"embedding_copies", "X * vocabulary * hidden * bytes in addition to the weights"},
    {"input_factor", "input tensors: X * tokens * hidden * bytes"},
    {"deepspeed_gib", "GiB of DeepSpeed's buffers where ZeRO is on"},
    {"misc_gib", "GiB in addition to everything else"},
    {"add_all_terms", "1: the peak is the sum of all terms, not the widest moment of a step"},
};

struct NamedTerm {
  std::string_view name;
  Bytes TrainingEstimate::*bytes;
};
constexpr NamedTerm terms[] = {
    {"weights", &TrainingEstimate::weights},     {"master", &TrainingEstimate::master},
    {"gradients", &TrainingEstimate::gradients}, {"states", &TrainingEstimate::states},
    {"attention", &TrainingEstimate::attention}, {"feed_forward", &TrainingEstimate::feed_forward},
    {"other", &TrainingEstimate::other},         {"recomputed", &TrainingEstimate::recomputed},
    {"transient", &TrainingEstimate::transient}, {"gathered", &TrainingEstimate::gathered},
    {"scratch", &TrainingEstimate::scratch},     {"step", &TrainingEstimate::step},
};
constexpr std::string_view names[] = {"weights",   "master",       "gradients",    "states",
                                      "attention", "feed_forward", "other",        "recomputed",
                                      "transient", "gathered",     "scratch",      "step",
                                      "loss",      "context",      "fragmentation"};

std::optional<double> of(const TrainingScenario& s, std::string_view key) {
  const auto it = s.factors.find(key);
  return it == s.factors.end() ? std::nullopt : std::optional(it->second);
}

/// Applies "<term>_gib", then "<term>_scale" to `bytes`.
double changed(const TrainingScenario& s, std::string_view term, double bytes) {
  if (const auto gib = of(s, std::string(term) + "_gib")) bytes = *gib * GiB;
  if (const auto scale = of(s, std::string(term) + "_scale")) bytes *= *scale;
  return bytes;
}

}  // namespace

std::span<const FactorKey> factor_keys() { return keys; }
std::span<const std::string_view> factor_terms() { return names; }

void set_factor(Factors& factors, std::string_view name, double value) {
  std::vector<std::string> known;
  for (const FactorKey& key : keys) known.emplace_back(key.name);
  for (const std::string_view term : names)
    for (const std::string_view end : {"_scale", "_gib"}) known.push_back(std::string(term) += end);
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw unknown_name("factor", name, known);
  if (!(value >= 0 && value <= most_factor))
    throw std::invalid_argument(
        fmt::format("factor {}: found {}, expected a number from 0 to 1,000,000", name, value));
  factors[std::string(name)] = value;
}

void apply_factors(const TrainingScenario& s, const Stage& stage, TrainingEstimate& e,
                   double& loss_forward, double& loss_backward) {
  if (s.factors.empty()) return;
  const Model& m = *s.model;
  const auto n = [](Size size) { return static_cast<double>(size); };
  const double element = static_cast<double>(bytes_of(s.recipe->parameters));
  const double tokens = tokens_on_card(s);
  const double layers = n(stage.last - stage.first) / n(s.parallel.tensor);
  const double unit = tokens * n(m.shape.hidden_size) * layers * element;
  const double vocabulary = n(m.profile.head_rows);
  const bool again = s.recomputation != Recomputation::none;
  const auto left = of(s, "recomputation_factor");
  if (const auto x = of(s, "activation_factor"))
    e.attention = e.feed_forward = Bytes(0), e.other = rounded_up(*x * unit);
  if (const auto x =
          of(s, s.fuses_attention() ? "attention_factor_fused" : "attention_factor_scores")) {
    double bytes = *x * unit;
    if (!s.fuses_attention())
      bytes += tokens * n(m.shape.query_heads) * n(s.sequence) * layers * element;
    e.attention = rounded_up(bytes);
  }
  if (const auto x = of(s, "feed_forward_factor")) e.feed_forward = rounded_up(*x * unit);
  if (again && left) {
    for (Bytes* each : {&e.attention, &e.feed_forward, &e.other})
      *each = rounded_up(*left * n(each->count()));
    e.recomputed = Bytes(0);
  }
  if (const auto x = of(s, "logits_factor"))
    loss_forward = loss_backward = *x * tokens * vocabulary / n(s.parallel.tensor);
  if (const auto x = of(s, "fused_loss_factor"); x && s.fused_loss)
    loss_forward *= *x, loss_backward *= *x;
  if (const auto x = of(s, "optimizer_factor")) e.states = rounded_up(*x * n(e.trained) * element);
  if (const auto x = of(s, "base_bytes"); x && s.adapter != nullptr)
    e.weights = rounded_up(*x * n(e.frozen) / n(s.parallel.tensor * s.parallel.stages)) +
                s.runtime->adapter_bytes * Bytes(e.trained);
  if (const auto x = of(s, "embedding_copies"))
    e.scratch += rounded_up(*x * vocabulary * n(m.shape.hidden_size) * element);
  if (const auto x = of(s, "input_factor"))
    e.scratch += rounded_up(*x * tokens * n(m.shape.hidden_size) * element);
  if (const auto x = of(s, "deepspeed_gib"); x && s.zero > 0) e.gathered += rounded_up(*x * GiB);
  if (const auto x = of(s, "misc_gib")) e.scratch += rounded_up(*x * GiB);
  for (const NamedTerm& term : terms)
    e.*term.bytes = rounded_up(changed(s, term.name, n((e.*term.bytes).count())));
  loss_forward = changed(s, "loss", loss_forward);
  loss_backward = changed(s, "loss", loss_backward);
  e.activations = e.attention + e.feed_forward + e.other;
}

void apply_overheads(const TrainingScenario& s, TrainingEstimate& e) {
  if (s.factors.empty()) return;
  const auto n = [](Bytes bytes) { return static_cast<double>(bytes.count()); };
  e.context = rounded_up(changed(s, "context", n(e.context)));
  e.fragmentation = rounded_up(changed(s, "fragmentation", n(e.fragmentation)));
}

}  // namespace headroom::model
