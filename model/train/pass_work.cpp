#include "model/train/pass_work.hpp"

#include <algorithm>
#include <array>

#include "model/describe/layer_range.hpp"
#include "model/train/passes.hpp"
#include "model/train/tape/tower.hpp"

namespace headroom::model {
namespace {

constexpr double attention_backward = 2.5;  ///< relative to forward: five products for two

/// Bytes moved to unpack an element of a frozen 4-bit weight and to multiply with it. bitsandbytes:
/// one kernel reads half a byte and writes 2, which the product reads. AutoGPTQ in training: a
/// chain of torch operations with separate results (qlinear_cuda_old.py: shifted in 32 bit,
/// converted, masked, minus its zero, scaled). The 12 steps of QwenLM/Qwen's table give 25 bytes.
double unpacked_bytes(const QuantisedModel& base) {
  return base.scheme->family == SchemeFamily::gptq ? 25 : 5;
}

/// Share of all layers that are in `stage`.
double share_of_layers(const TrainingScenario& s, const Stage& stage) {
  return real_count(stage.last - stage.first) /
         real_count(static_cast<Size>(s.model->profile.layers.size()));
}

/// Kernels that a stage launches, relative to a dense layer. torch launches 34 for a Llama layer
/// (norms 6, rotations 10, 7 products, attention, gate, sums). A router with its experts adds 30
/// (probabilities, choice, counts, sorting in both directions; Megatron-LM core/transformer/moe,
/// transformers integrations/moe.py). An adapter adds 6 a product (conversion, dropout, two
/// products, scale, sum; PEFT 0.21 tuners/lora/layer.py) and 12 for DoRA's row norms (length_bytes;
/// quotient and scaling). A layer whose modules are fetched one by one adds 130: hooks, gathers and
/// releases of some eight parameters (DeepSpeed runtime/zero/partitioned_param_coordinator.py;
/// fitted with the constants).
double kernels_of(const TrainingScenario& s, const StepShape& shape, const StageShape& held,
                  const Stage& stage) {
  constexpr double dense = 34, routed = 30, adapted = 6, measured = 12, fetched = 130;
  double kernels = dense * real_count(stage.last - stage.first) + routed * real_count(held.routed);
  if (s.adapter != nullptr) {
    kernels += (adapted + (shape.adapter_lengths > RealBytes() ? measured : 0)) *
               real_count(static_cast<Size>(s.adapter->modules.size())) * share_of_layers(s, stage);
  }
  if (s.zero >= 3 && s.runtime->fetches_modules)
    kernels += fetched * real_count(stage.last - stage.first);
  return kernels / dense;
}

/// Share of forward that is recomputed: first of matrices and the operations between them, then of
/// attention.
std::array<double, 2> again_of(const TrainingScenario& s) {
  switch (s.recomputation) {
    case Recomputation::none:
      return {0, 0};
    case Recomputation::full:
    case Recomputation::offloaded:
      return {1, 1};
    case Recomputation::selective:
      return s.runtime->selective == Selective::attention ? std::array{0.0, 1.0}
                                                          : std::array{0.5, 0.0};
  }
  return {0, 0};
}

/// Forward FLOPs of the matrices at the end of a layer.
Flops last_matrices(const StepShape& shape, const Stage& stage, double tokens) {
  double flops = 0;
  for (Size i = stage.first; i < stage.last; ++i) {
    const std::size_t kind = shape.saved.kind_of[static_cast<std::size_t>(i)];
    flops += 2 * tokens * real_count(shape.saved.kinds[kind].last_matrix);
  }
  return Flops(flops);
}

/// Bytes of a stage's weights that one pass over its layers reads. Frozen weights are read in their
/// format; 4-bit ones are unpacked.
RealBytes weight_bytes(const TrainingScenario& s, const StageShape& stage) {
  const double elements = real_count(stage.elements.total());
  const double held = s.adapter != nullptr ? real_count(stage.base.total()) : 2 * elements;
  return RealBytes(held + (s.base != nullptr ? unpacked_bytes(*s.base) * elements : 0));
}

}  // namespace

RealBytes length_bytes(const TrainingScenario& s) {
  if (s.adapter == nullptr) return {};
  const double element = real_count(s.runtime->adapter_bytes);
  const double converted = (s.base != nullptr ? unpacked_bytes(*s.base) : 0) +
                           (element > 2 || s.base != nullptr ? 2 + element : 0);
  double bytes = 0;
  for (const AdaptedModule& m : s.adapter->modules)
    if (m.magnitudes > 0)
      bytes += real_count(m.in) *
               (2 * element * real_count(m.in) + (7 * element + converted) * real_count(m.out));
  return RealBytes(bytes);
}

Flops attention_flops(const TrainingScenario& s, Size first, Size last) {
  const Model& m = *s.model;
  const double sequence =
      real_count(s.document > 0 ? std::min(s.document, s.sequence) : s.sequence);
  double flops = 0;
  for (const CacheClass& cache : m.profile.caches) {
    if (cache.score_dims_before.empty()) continue;
    const double dims = real_count(between(cache.score_dims_before, {first, last}));
    const double window = cache.window > 0 ? real_count(cache.window) : sequence;
    const double seen = sequence <= window ? sequence / 2 : window * (1 - window / (2 * sequence));
    flops += 2 * dims * seen;
  }
  if (flops == 0)  // encoders attend in both directions
    flops = 4 * real_count(m.shape.hidden_size) * sequence * real_count(last - first);
  return Flops(flops);
}

namespace {

/// Two FLOPs for each of `text` tokens and element, from a prefix sum over layers. A tower has
/// patches, which context parallelism does not divide.
Flops flops_of(const TrainingScenario& s, const std::vector<double>& all, Size first, Size last,
               double text) {
  const double patches = real_count(s.batch * s.images.count * s.images.patches);
  const Range run{first, last};
  const double elements = between(all, run);
  const Profile& p = s.model->profile;
  const double of_text = between(all, intersect(run, {p.first_decoding, p.end_decoding}));
  const auto towers = [&] {
    return in_a_tower(*s.model, 0) || in_a_tower(*s.model, std::ssize(p.layers) - 1);
  };
  if (of_text == elements || !towers()) return Flops(2 * elements * text);
  return Flops(2 * (of_text * text + (elements - of_text) * patches));
}

}  // namespace

Flops matrix_flops(const TrainingScenario& s, Size first, Size last) {
  return flops_of(s, s.model->profile.multiplied_before, first, last, tokens_on_card(s));
}
Flops all_matrix_flops(const TrainingScenario& s) {
  const Profile& p = s.model->profile;
  return flops_of(s, p.multiplied_before, 0, std::ssize(p.layers), tokens_of_pass(s));
}
Flops expert_flops(const TrainingScenario& s, Size first, Size last) {
  return flops_of(s, s.model->profile.routed_before, first, last, tokens_on_card(s));
}

PassWork pass_work(const TrainingScenario& s, const StepShape& shape, Size stage) {
  const Model& m = *s.model;
  const StageShape& held = shape.stages[static_cast<std::size_t>(stage)];
  const Stage& here = held.ends;
  const double tensor = real_count(s.parallel.tensor), back = backward_products(s);
  const auto [again, attention_again] = again_of(s);
  const Phases<double> products{1, back, again};
  PassWork w;
  w.again = again;
  w.tokens = tokens_on_card(s);
  w.routed = w.tokens * real_count(held.chosen) * real_count(m.shape.hidden_size);
  w.experts = expert_flops(s, here.first, here.last) / tensor * products;
  w.matrices = matrix_flops(s, here.first, here.last) / tensor * products - w.experts;
  if (s.runtime->stops_early && recomputes_layers(s.recomputation))
    w.matrices.again -= last_matrices(shape, here, w.tokens) / tensor;
  if (here.has_head && s.head_loss)
    w.head = Flops(2 * w.tokens * real_count(m.profile.head_elements)) / tensor *
             Phases<double>{1, back, 0};
  w.attention = w.tokens * attention_flops(s, here.first, here.last) / tensor *
                Phases<double>{1, attention_backward, attention_again};
  w.made = RealBytes(made_by_pass(s, shape, stage)) * Phases<double>{1, 2, again};
  if (here.has_head && !s.fused_loss)
    w.logits = RealBytes(loss_bytes(s, shape.saved).backward_start) * Phases<double>{1, 1, 0};
  w.weights = weight_bytes(s, held) * products + shape.adapter_lengths * share_of_layers(s, here) /
                                                     tensor * Phases<double>{1, 0, again};
  w.dense_kernels = kernels_of(s, shape, held, here) / 3 * products;
  return w;
}

}  // namespace headroom::model
