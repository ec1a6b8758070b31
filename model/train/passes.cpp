#include "model/train/passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/train/rank.hpp"
#include "model/train/tape/execution.hpp"
#include "model/train/tape/tower.hpp"

namespace headroom::model {
namespace {

/// True if rules of thumb replace the saved activations of layers.
bool activations_replaced(const Factors& f) {
  return f.contains("activation_factor") ||
         (f.contains("feed_forward_factor") &&
          (f.contains("attention_factor_fused") || f.contains("attention_factor_scores")));
}

/// Bytes on one card. Data between parallel matrices is divided; with sequence parallelism the rest
/// is divided by tokens (Korthikanti et al., arXiv:2205.05198, section 4).
double on_card(const TrainingScenario& s, const Tape::Sums& sums, double batch, double all,
               double here) {
  const double tensor = real_count(s.parallel.tensor), outer = s.parallel.sequence ? tensor : 1;
  return sums.outer.at(batch, here, all) / outer + sums.inner.at(batch, here, all) / tensor +
         sums.weights_outer.at(batch, here, all) + sums.weights_inner.at(batch, here, all) / tensor;
}

double on_card(const TrainingScenario& s, const Tape::Sums& sums) {
  const double all = real_count(s.sequence);
  return on_card(s, sums, real_count(s.batch), all, all / real_count(s.parallel.context));
}
/// As above for images and patches, which context parallelism does not divide.
double on_card_of_images(const TrainingScenario& s, const Tape::Sums& sums) {
  if (s.images.count == 0) return 0;
  const double patches = real_count(s.images.patches);
  return on_card(s, sums, real_count(s.batch * s.images.count), patches, patches);
}

}  // namespace

bool runs(const SavedLayer& kind, const ImagesOfSample& images) {
  return images.count > 0 || !(kind.tower || kind.reads_images_alone);
}

void check_described(const TrainingScenario& s, const SavedActivations& saved) {
  const auto described = [](const SavedLayer& kind) { return kind.unknown.empty(); };
  if (std::ranges::all_of(saved.kinds, described) || activations_replaced(s.factors)) return;
  for (std::size_t i = 0; i < saved.kind_of.size(); ++i) {
    const SavedLayer& kind = saved.kinds[saved.kind_of[i]];
    if (kind.unknown.empty() || !runs(kind, s.images)) continue;
    // Korthikanti et al., arXiv:2205.05198, section 4.1: 34 bytes in 16 bit without scores
    throw ImpossibleStep(
        Reason::layers_not_described,
        fmt::format("tensors that {} of {} keeps for backward are not described ({}); the constant "
                    "activation_factor=17 uses a rule of thumb instead: tokens * hidden * "
                    "layers * 17 * bytes of an element",
                    s.model->profile.layers[i].path, s.model->architecture, kind.unknown));
  }
}

void check_attention(const TrainingScenario& s, const SavedActivations& saved) {
  if (s.attention != AttentionKernel::flash_attention) return;
  const auto refuse = [&](std::string_view what, std::string_view why) {
    throw ImpossibleStep(
        Reason::attention_unsupported,
        fmt::format("{} with flash-attn: {}; sdpa and eager are other kernels", what, why));
  };
  if (s.recipe->computes_in_fp32())
    refuse(fmt::format("the recipe {}", s.recipe->name), "its kernels are for 16 bit alone");
  for (std::size_t i = 0; i < saved.kind_of.size(); ++i)
    if (const SavedLayer& kind = saved.kinds[saved.kind_of[i]];
        !kind.without_flash.empty() && runs(kind, s.images))
      refuse(s.model->profile.layers[i].path, kind.without_flash);
}

bool gradients_in_tower(const TrainingScenario& s) {
  if (s.adapter == nullptr) return !s.tower_frozen;
  const auto tower = vision_tower(*s.model);
  return tower && std::ranges::any_of(s.adapter->modules, [&](const AdaptedModule& m) {
           return tower->contains(m.path);
         });
}

bool quantised_operands(const TrainingScenario& s) {
  return s.matrices != nullptr && s.runtime->matrices == MatrixPackage::transformer_engine;
}

SavedActivations saved_of(const TrainingScenario& s) {
  const Execution execution = usual_execution(*s.model);
  const bool in_8_bit = s.base != nullptr && keeps_inputs(*s.base);
  TapeMode mode{.parameters = s.recipe->parameters,
                .autocast = s.recipe->autocast,
                .trained = s.adapter == nullptr,
                .tower_trained = gradients_in_tower(s),
                .one_sequence = s.batch == 1,
                .attention_dropout = execution.attention_dropout,
                .hidden_dropout = execution.hidden_dropout,
                .frozen_inputs = s.frozen_inputs || in_8_bit,
                .frozen_inputs_as_they_are = in_8_bit,
                .quantised_layers = s.recipe->over_quantised,
                .wide_head = !s.recipe->over_quantised || s.recipe->raises_rest,
                .imbalance = s.imbalance,
                .keeps_products = s.recomputation == Recomputation::selective &&
                                  s.runtime->selective == Selective::but_every_2nd_mm,
                .compiled = s.compiled,
                .operand_bits = quantised_operands(s) ? s.matrices->bits : 0};
  const bool attention_again =
      s.recomputation == Recomputation::selective && s.runtime->selective == Selective::attention;
  mode.kernels.fused_attention = s.fuses_attention() || attention_again;
  mode.kernels.flash_package = s.attention == AttentionKernel::flash_attention;
  mode.kernels.windows_in_kernel = s.runtime->windows_in_kernel;
  mode.kernels.sinks_in_kernel = s.runtime->takes_sinks();
  // The compiler fuses them too and recomputes cheap results. With selective recomputation the list
  // of operations decides.
  const bool selective = s.recomputation == Recomputation::selective;
  mode.kernels.fused_norms = mode.kernels.fused_gating = mode.kernels.fused_rotation =
      s.fused_kernels || s.runtime->fused_kernels || (s.compiled && !selective);
  mode.kernels.gates_in_place = s.fused_kernels || s.runtime->gates_in_place;
  mode.kernels.activation_kernels = s.runtime->own_layers || s.runtime->fused_kernels;
  mode.kernels.values_apart = s.runtime->fused_kernels;
  mode.kernels.ring_attention = s.parallel.context > 1;
  return saved_activations(*s.model, execution, mode);
}

namespace {

/// Bytes that adapters keep in a layer of the text, and in one of a tower.
struct AdapterBytes {
  double text = 0, tower = 0;
};
AdapterBytes adapter_bytes(const TrainingScenario& s, const StepShape& shape) {
  if (s.adapter == nullptr) return {};
  const SavedActivations& saved = shape.saved;
  const double outer = s.parallel.sequence ? real_count(s.parallel.tensor) : 1;
  const auto towers = std::ranges::count_if(
      saved.kind_of, [&](std::size_t kind) { return saved.kinds[kind].tower; });
  const Size others = std::ssize(saved.kind_of) - towers;
  const double patches = real_count(s.batch * s.images.count * s.images.patches);
  return {shape.adapter_kept * tokens_on_card(s) / outer / real_count(std::max<Size>(1, others)),
          shape.adapter_kept_in_tower * patches / outer / real_count(std::max<Size>(1, towers))};
}

/// A kind of layers that run, whatever their stage.
struct RunKind {
  std::size_t index;  ///< in SavedActivations::kinds
  const SavedLayer& kind;
  double adapters = 0;  ///< bytes that adapters keep in each
  bool beyond = false;  ///< the sequence reaches their window
  double on_card_of(const TrainingScenario& s, const Tape::Sums& sums) const {
    return kind.tower ? on_card_of_images(s, sums) : on_card(s, sums);
  }
};

/// Calls `f` for each kind of layers that run.
template <class F>
void for_kinds(const TrainingScenario& s, const StepShape& shape, F&& f) {
  const AdapterBytes adapters = adapter_bytes(s, shape);
  for (std::size_t i = 0; i < shape.saved.kinds.size(); ++i) {
    const SavedLayer& kind = shape.saved.kinds[i];
    if (!runs(kind, s.images)) continue;
    f(RunKind{i, kind, kind.tower ? adapters.tower : adapters.text,
              kind.window > 0 && s.sequence >= kind.window});
  }
}

}  // namespace

double made_by_pass(const TrainingScenario& s, const StepShape& shape, Size stage) {
  const StageShape& here = shape.stages[static_cast<std::size_t>(stage)];
  double made = 0;
  for_kinds(s, shape, [&](const RunKind& all) {
    const Size layers = here.layers[all.index];
    if (layers == 0) return;
    made += real_count(layers) *
            (all.on_card_of(s, all.beyond ? all.kind.made_beyond : all.kind.made) + all.adapters);
  });
  return made;
}

KeptByKinds kept_by_kinds(const TrainingScenario& s, const StepShape& shape) {
  KeptByKinds kinds(shape.saved.kinds.size());
  for_kinds(s, shape, [&](const RunKind& run) {
    const SavedLayer& kind = run.kind;
    KeptByLayer& kept = kinds[run.index];
    kept.all = run.on_card_of(s, run.beyond ? kind.beyond : kind.within) + run.adapters;
    kept.attention =
        std::min(kept.all, run.on_card_of(s, run.beyond ? kind.attention_beyond : kind.attention) +
                               run.adapters / 2);
    Tape::Sums input;
    input.outer = kind.input;
    kept.input = run.on_card_of(s, input);
  });
  return kinds;
}

Kept kept_by_pass(const TrainingScenario& s, const StepShape& shape, const KeptByKinds& kinds,
                  Size stage) {
  const SavedActivations& saved = shape.saved;
  const StageShape& here = shape.stages[static_cast<std::size_t>(stage)];
  const double tokens = tokens_on_card(s);
  const double patches = real_count(s.batch * s.images.count * s.images.patches);
  const double tensor = real_count(s.parallel.tensor), outer = s.parallel.sequence ? tensor : 1;
  const double element = s.recipe->computes_in_fp32() || s.recipe->over_quantised ? 4 : 2;
  Kept k;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const bool tower = saved.kinds[i].tower;
    if (here.layers[i] == 0 || !runs(saved.kinds[i], s.images)) continue;
    const double layers = real_count(here.layers[i]);
    k.attention += layers * kinds[i].attention;
    k.feed_forward += layers * (kinds[i].all - kinds[i].attention);
    k.layer = std::max(k.layer, kinds[i].all);
    k.inputs += layers * kinds[i].input;
    const Size in_place = saved.kinds[i].in_place_width;
    const double width = in_place > 0 ? real_count(in_place) : here.widest[i];
    k.transient = std::max(
        {k.transient,
         element * (tower ? patches : tokens) *
             (width / tensor + real_count(s.model->shape.hidden_size) / outer),
         real_count(saved.kinds[i].score_gradients) * tokens * real_count(s.sequence) / tensor});
  }
  const Stage& ends = here.ends;
  if (ends.has_embedding)
    k.embedding_and_head += on_card(s, saved.before) + on_card_of_images(s, saved.around_tower);
  if (ends.has_head && s.head_loss) k.embedding_and_head += on_card(s, saved.after);
  return k;
}

/// Bytes per logit; `own` is the size of a logit as the head computes it:
///
///   whole: own (or 4) + 4 + 4 at the end of forward; at backward's start log-probabilities and two
///   gradients of 4 each, and own (or 4) where outputs are held
///   compiled: own + 4 and own + own; in place: own; pieces: own + 4 and one piece of 8 of 4 + 4
///
/// The head's backward adds its input's gradient and, if it is trained, its weight's. Source:
/// transformers 5.23 loss/loss_utils.py, torch nll_loss and log_softmax derivatives, measured as
/// peak_backward in tests/oracle/data/training; Transformer Engine common/fused cross entropy.
LossBytes loss_bytes(const TrainingScenario& s, const SavedActivations& saved) {
  const double tokens = tokens_on_card(s), tensor = real_count(s.parallel.tensor);
  const double rows = real_count(s.model->profile.head_rows);
  const double hidden = real_count(std::max<Size>(1, s.model->shape.hidden_size));
  const Size multiple = s.runtime->vocabulary_multiple * s.parallel.tensor;
  const double vocabulary = std::ceil(rows / real_count(multiple)) * real_count(multiple);
  if (!s.head_loss) return {};
  const double logits = tokens * vocabulary / tensor;
  const double own = real_count(saved.logits_bytes);
  const double head_gradient = s.adapter == nullptr ? 2 * vocabulary / tensor * hidden : 0;
  const LossKind kind = s.fused_loss ? LossKind::chunked : s.loss.value_or(s.runtime->loss);
  switch (kind) {
    case LossKind::whole: {
      const double raised = s.runtime->logits_raised ? 4 : own;
      const double copied = own < 4 ? 4 : 0;
      return {logits * (std::max(own + copied, raised) + 4),
              logits * (12 + (s.runtime->outputs_held ? raised : 0))};
    }
    case LossKind::compiled:
      return {logits * (own + 4), logits * 2 * own};
    case LossKind::pieces:
      return {logits * (own + 4), logits * (own + 4 + 8.0 / 8)};
    case LossKind::in_place: {
      const double gathered =
          // the input and its sum
          s.parallel.sequence ? tokens * hidden * 2 * (1 + 1 / tensor) : 0;
      return {logits * own, logits * own + tokens * hidden * 2 + gathered + head_gradient};
    }
    case LossKind::chunked:
      break;
  }
  // Liger-Kernel, ops/fused_linear_cross_entropy.py: chunks of a power of two, at least tokens /
  // ceil(vocabulary / hidden). Gradients of the head's input and weight are computed there.
  const double chunk =
      std::exp2(std::ceil(std::log2(std::max(1.0, tokens / std::ceil(vocabulary / hidden)))));
  const double bytes =
      std::min(chunk, tokens) * vocabulary / tensor * own + tokens * hidden * 2 + head_gradient;
  return {bytes, bytes};
}

double passes_in_flight(const TrainingScenario& s, Size stage) {
  const Parallelism& p = s.parallel;
  if (p.stages == 1) return 1;
  if (p.chunks == 1) return real_count(std::min(p.stages - stage, s.accumulated));
  const Size chunks = 2 * (p.stages - stage - 1) + (p.chunks - 1) * p.stages + 1;
  return std::min(real_count(s.accumulated), real_count(chunks) / real_count(p.chunks));
}

}  // namespace headroom::model
