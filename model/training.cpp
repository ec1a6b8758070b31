#include "model/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "model/execution.hpp"
#include "model/runtime.hpp"
#include "model/saved_activation.hpp"

namespace headroom::model {
namespace {

Bytes whole(double bytes) { return Bytes(static_cast<Size>(std::min(std::ceil(bytes), 9e17))); }
Bytes share(Bytes bytes, Size of) { return of <= 1 ? bytes : Bytes((bytes.count() + of - 1) / of); }

/// A term as it is printed; nothing about it is uncertain but what its formula leaves out.
Term term(std::string name, Bytes bytes, std::string formula, std::string numbers,
          std::string source) {
  const double value = static_cast<double>(bytes.count());
  return {std::move(name),    "bytes",          value, value, value, std::move(formula),
          std::move(numbers), std::move(source)};
}

TapeMode mode_of(const TrainingScenario& s, const Execution& e) {
  TapeMode mode{.parameters = s.recipe->parameters,
                .autocast = s.recipe->autocast,
                .trained = s.adapter == nullptr,
                .one_sequence = s.batch == 1,
                .attention_dropout = e.attention_dropout,
                .hidden_dropout = e.hidden_dropout};
  mode.kernels.fused_attention = s.fused_attention;
  mode.kernels.fused_norms = mode.kernels.fused_gating = mode.kernels.fused_rotation =
      s.fused_kernels;
  return mode;
}

/// Inputs and inner rows that adapters keep in fp32: x for the first factor, its result for the
/// second (PEFT 0.21, tuners/lora/layer.py, Linear.forward). Stacked experts: one row for each
/// chosen expert.
double adapter_activations(const TrainingScenario& s) {
  if (s.adapter == nullptr) return 0;
  const double rows = static_cast<double>(s.batch) * static_cast<double>(s.sequence);
  double sum = 0;
  for (const AdaptedModule& m : s.adapter->modules)
    sum += 4.0 * rows * static_cast<double>(m.in + m.rank);
  return sum;
}

struct Kept {
  double layers = 0, largest = 0, inputs = 0;  ///< all layers, the largest one, inputs of all
  double ends = 0;                             ///< before and after the layers
};

Kept kept(const TrainingScenario& s, const SavedActivations& saved) {
  const double batch = static_cast<double>(s.batch), sequence = static_cast<double>(s.sequence);
  Kept k;
  for (std::size_t i = 0; i < saved.kind_of.size(); ++i) {
    const double layer = saved.layer(i, batch, sequence);
    k.layers += layer;
    k.largest = std::max(k.largest, layer);
    k.inputs += saved.kinds[saved.kind_of[i]].input.at(batch, sequence);
  }
  for (const Tape::Sums* part : {&saved.before, &saved.after}) {
    Polynomial all = part->outer;
    ((all += part->inner) += part->weights_outer) += part->weights_inner;
    k.ends += all.at(batch, sequence);
  }
  return k;
}

/// Optimizer states over what is trained. ZeRO cuts flat pieces: matrices are seen as vectors then.
Bytes states_of_trained(const TrainingScenario& s) {
  const Size bytes = s.adapter != nullptr ? 4 : s.recipe->stepped();
  const auto shaped = [&](Tensor t) {
    if (s.zero > 0) t.shape = {t.elements()}, t.role = Role::bias;
    return state_bytes(*s.optimizer, t, bytes);
  };
  Bytes sum;
  if (s.adapter == nullptr) {
    for (const Tensor& t : s.model->part.tensors)
      if (t.is_parameter() && t.tied_to.empty()) sum += shaped(t);
    return sum;
  }
  for (const AdaptedModule& m : s.adapter->modules) {
    sum += shaped({"", {m.copies * m.rank, m.in}, Role::matmul});
    sum += shaped({"", {m.out, m.copies * m.rank}, Role::matmul});
    if (m.magnitudes > 0) sum += shaped({"", {m.magnitudes}, Role::other});
  }
  return sum;
}

/// Logits of one chunk, the gradients of the head's input and of the head.
///
///   chunk * vocabulary * bytes of a logit + tokens * hidden * 2 + vocabulary * hidden * 2
///
/// chunk: the power of two from tokens / ceil(vocabulary / hidden) on. Source: Liger-Kernel,
/// ops/fused_linear_cross_entropy.py. Left out: the kernel's own fp32 accumulators.
double chunked_loss(const TrainingScenario& s, double of_logit) {
  const double all = static_cast<double>(s.batch) * static_cast<double>(s.sequence);
  const double vocabulary = static_cast<double>(s.model->profile.head_rows);
  const double hidden = static_cast<double>(std::max<Size>(1, s.model->shape.hidden_size));
  const double chunk =
      std::exp2(std::ceil(std::log2(std::max(1.0, all / std::ceil(vocabulary / hidden)))));
  const double head_gradient = s.adapter == nullptr ? vocabulary * hidden * 2 : 0;
  return std::min(chunk, all) * vocabulary * of_logit + all * hidden * 2 + head_gradient;
}

void check(const TrainingScenario& s) {
  if (s.zero > 0 && s.replicas == 1)
    throw std::invalid_argument("ZeRO shares out over data parallel cards, and there is one: --dp");
  if (s.zero < 0 || s.zero > 3) throw std::invalid_argument("ZeRO has stages 0 to 3");
}

constexpr std::string_view zero_source =
    "Rajbhandari et al., arXiv:1910.02054: stage 1 shares out states, 2 gradients, 3 weights";

}  // namespace

TrainingEstimate evaluate_training(const TrainingScenario& s) {
  check(s);
  const Recipe& r = *s.recipe;
  const bool adapters = s.adapter != nullptr;
  TrainingEstimate e;
  e.trained = adapters ? s.adapter->parameters() : s.model->profile.parameters;
  e.frozen = adapters ? s.model->profile.parameters : 0;
  const Size weight_bytes = adapters ? 4 : r.weight, gradient_bytes = adapters ? 4 : r.gradient;
  const Bytes trained_weights = weight_bytes * Bytes(e.trained);
  const Bytes frozen_weights =
      !adapters ? Bytes(0) : (s.base != nullptr ? s.base->total : r.weight * Bytes(e.frozen));
  const Bytes all_weights = trained_weights + frozen_weights;
  e.weights = share(all_weights, s.zero >= 3 ? s.replicas : 1);
  e.master = share((adapters ? 0 : r.master) * Bytes(e.trained), s.zero >= 1 ? s.replicas : 1);
  const Bytes all_gradients = gradient_bytes * Bytes(e.trained);
  e.gradients = share(all_gradients, s.zero >= 2 ? s.replicas : 1);
  e.states = share(states_of_trained(s), s.zero >= 1 ? s.replicas : 1);
  if (s.optimizer_on_host) {
    e.host = e.master + e.states;
    e.master = e.states = Bytes(0);
  }

  const Execution execution = usual_execution(*s.model);
  const SavedActivations saved = saved_activations(*s.model, execution, mode_of(s, execution));
  for (const SavedLayer& kind : saved.kinds) e.exact_layers = e.exact_layers && kind.known;
  const Kept k = kept(s, saved);
  const double adapter = adapter_activations(s);
  const double layers = static_cast<double>(std::max<std::size_t>(1, saved.kind_of.size()));
  const bool again = s.recomputation == Recomputation::full;
  e.activations = whole(k.ends + (again ? k.inputs : k.layers + adapter));
  e.recomputed = again ? whole(k.largest + adapter / layers) : Bytes(0);

  const double batch = static_cast<double>(s.batch), sequence = static_cast<double>(s.sequence);
  const double log_probabilities = saved.loss.at(batch, sequence);
  // At the start of backward: logits as the head made them, log-probabilities, and their gradient.
  const double of_logit = static_cast<double>(saved.logits_bytes);
  const double head = batch * sequence * static_cast<double>(s.model->profile.head_rows);
  e.loss = s.fused_loss ? whole(chunked_loss(s, of_logit))
                        : whole(head * of_logit + 2 * log_probabilities);

  if (s.zero >= 3) {
    // The layer in use and the one that is fetched ahead, whole; embeddings where they are used.
    Size widest = 0;
    for (const Layer& layer : s.model->profile.layers)
      widest = std::max(widest, layer.sums.parameters);
    e.gathered = r.weight * Bytes(2 * widest);
  } else if (s.zero >= 1) {
    // One bucket of 5e8 elements at most on its way (DeepSpeed's reduce_bucket_size).
    e.gathered = gradient_bytes * Bytes(std::min<Size>(e.trained, 500'000'000));
  }
  if (!s.optimizer_on_host && s.optimizer->step_copies > 0)
    e.step = share(s.optimizer->step_copies * ((adapters ? 4 : r.stepped()) * Bytes(e.trained)),
                   s.zero >= 1 ? s.replicas : 1);

  const Bytes held = e.weights + e.master + e.states;
  const Bytes earlier = s.accumulated > 1 ? e.gradients : Bytes(0);
  e.at_backward = held + earlier + e.activations + e.loss + e.gathered;
  const Bytes in_backward =
      held + e.gradients + e.gathered + e.recomputed + (again ? e.activations : Bytes(0));
  e.at_backward = std::max(e.at_backward, in_backward);
  e.at_step = held + e.gradients + e.step;
  e.peak_at_step = e.at_step > e.at_backward;
  const Bytes allocated = std::max(e.at_backward, e.at_step);
  const Runtime& runtime = model::runtime("transformers");
  e.context = whole(runtime.context_bytes.value);
  e.fragmentation = whole(static_cast<double>(allocated.count()) * runtime.fragmentation.value);
  e.peak = allocated + e.context + e.fragmentation;

  const auto n = [](Size number) { return fmt::format("{}", number); };
  const std::string over = s.replicas > 1 ? fmt::format(" over {} replicas", s.replicas) : "";
  e.terms = {
      term("weights", e.weights, "bytes of an element * parameters (ZeRO 3: / replicas)",
           adapters
               ? fmt::format("{} frozen, {} trained in fp32{}", n(e.frozen), n(e.trained), over)
               : fmt::format("{} * {}{}", r.weight, n(e.trained), over),
           std::string(r.source)),
      term("master weights", e.master, "bytes of a master element * trained (ZeRO 1+: / replicas)",
           fmt::format("{} * {}", adapters ? 0 : r.master, n(e.trained)), std::string(r.source)),
      term("gradients", e.gradients, "bytes of a gradient * trained (ZeRO 2+: / replicas)",
           fmt::format("{} * {}", gradient_bytes, n(e.trained)), std::string(zero_source)),
      term("optimizer states", e.states,
           "every state tensor, by the shapes trained (ZeRO 1+: / replicas)",
           fmt::format("{} {} ({})", s.optimizer->package, s.optimizer->class_name,
                       s.optimizer->options.empty() ? "defaults" : s.optimizer->options),
           "recorded from the named package after a step"),
      term("activations", e.activations,
           again ? "inputs of all layers, and what lies before and after them"
                 : "what each layer's operations keep for backward",
           fmt::format("{} sequences of {} tokens, {} layers", s.batch, s.sequence,
                       saved.kind_of.size()),
           "torch 2.15 derivatives, transformers 5.23 modules"),
      term("recomputed layer", e.recomputed, "the largest layer's activations, once", "",
           "torch.utils.checkpoint"),
      term("logits and loss", e.loss,
           s.fused_loss ? "logits of one chunk, gradients of the head and of its input"
                        : "tokens * vocabulary * (bytes of a logit + 4 + 4)",
           fmt::format("{} * {} * {} * ({} + 8)", s.batch, s.sequence, s.model->profile.head_rows,
                       saved.logits_bytes),
           "transformers 5.23 loss_utils.py: fp32 log-probabilities and their gradient"),
      term("gathered and reduced", e.gathered,
           s.zero >= 3 ? "two layers' weights, whole" : "one bucket of gradients", "",
           std::string(zero_source)),
      term("optimizer step", e.step, "temporaries of all tensors at once", "",
           "torch/optim, _multi_tensor_*"),
      term("driver context", e.context, "constant", "", std::string(runtime.context_bytes.source)),
      term("fragmentation", e.fragmentation, "share of what is allocated",
           fmt::format("{}", runtime.fragmentation.value),
           std::string(runtime.fragmentation.source)),
  };
  return e;
}

}  // namespace headroom::model
