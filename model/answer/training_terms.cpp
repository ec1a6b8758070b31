#include "model/answer/training_terms.hpp"

#include <fmt/format.h>

#include "hardware/quantity_text.hpp"
#include "model/answer/explain.hpp"
#include "model/answer/explain_times.hpp"
#include "model/train/passes.hpp"

namespace headroom::model {
namespace {

/// A term of a runtime's constant.
Term constant_term(std::string name, Bytes bytes, std::string formula, const Constant& constant,
                   double scale) {
  return bytes_between(
      std::move(name), constant.low * scale, real_count(bytes), constant.high * scale,
      std::move(formula),
      fmt::format("{}, {}", scale == 1 ? to_text(bytes) : fmt::format("{}", constant.value),
                  evidence(constant)),
      constant.source);
}

constexpr std::string_view zero_source =
    "Rajbhandari et al., arXiv:1910.02054: stage 1 shares out states, 2 gradients, 3 weights";
constexpr std::string_view tape_source =
    "torch 2.15 derivatives, transformers 5.23 modules; divided as in arXiv:2205.05198";

std::string_view loss_formula(const TrainingScenario& s) {
  switch (s.fused_loss ? LossKind::chunked : s.loss.value_or(s.runtime->loss)) {
    case LossKind::whole:
      return "tokens * vocabulary * bytes of logits, fp32 log-probabilities and their gradients";
    case LossKind::compiled:
      return "tokens * vocabulary * bytes of logits and of their gradient";
    case LossKind::in_place:
      return "tokens * vocabulary * 2, which turn into gradients; gradients of the head and of its "
             "input";
    case LossKind::pieces:
      return "tokens * vocabulary * bytes of logits and fp32 log-probabilities; copies of one "
             "piece";
    case LossKind::chunked:
      return "logits of one chunk, gradients of the head and of its input";
  }
  return "";
}

/// "1 x 2048 tokens over 1 card, 4 passes at once".
std::string passes_words(const TrainingScenario& s, const TrainingEstimate& e) {
  return fmt::format("{} x {} over {}, {} at once", s.batch, headroom::counted(s.sequence, "token"),
                     headroom::counted(s.parallel.context, "card"),
                     headroom::counted(e.in_flight, "pass"));
}

/// The activations that are kept outside attention and feed-forward.
const char* kept_of(Recomputation how) {
  if (how == Recomputation::full)
    return "inputs of all layers, and what lies before and after them";
  return how == Recomputation::offloaded ? "input of one layer, and what lies before and after all"
                                         : "what lies before and after the layers";
}

std::string_view gradient_words(const TrainingScenario& s, const TrainingEstimate& e) {
  if (e.gradients_on_host > Bytes(0)) return "; on the host once reduced";
  const bool stay = s.runtime->gradients_kept || s.zero >= s.runtime->gradient_buffer_from;
  return stay ? "; buffers of the whole run" : "";
}

std::string step_words(const TrainingScenario& s) {
  return runs_deepspeed(*s.runtime) && s.zero > 0
             ? "gradients joined and in fp32, temporaries of the optimizer"
             : "temporaries of all tensors at once";
}

}  // namespace

std::vector<Term> training_terms(const TrainingScenario& s, const TrainingEstimate& e) {
  const Recipe& r = *s.recipe;
  const TrainingRuntime& runtime = *s.runtime;
  const Parallelism& p = s.parallel;
  const bool adapters = s.adapter != nullptr;
  const std::string over =
      fmt::format("; card of stage {} of {}, tensors over {}, experts over {}, ZeRO {} over {}",
                  e.stage + 1, p.stages, p.tensor, p.experts, s.zero, p.alike());
  const std::string passes = passes_words(s, e);
  return {
      exact_bytes("weights", e.weights, "bytes of an element * parameters of the card",
                  (adapters ? fmt::format("{} frozen, {} trained in {} bytes", e.frozen, e.trained,
                                          runtime.adapter_bytes)
                            : fmt::format("{} * {}", r.weight, e.trained)) +
                      over,
                  r.source),
      exact_bytes("master weights", e.master, "bytes of a master element * trained of the card",
                  fmt::format("{} * {}", adapters ? 0 : r.master, e.trained), r.source),
      exact_bytes("gradients", e.gradients, "bytes of a gradient * trained of the card",
                  fmt::format("{} * {}{}", adapters ? runtime.adapter_bytes : r.gradient, e.trained,
                              gradient_words(s, e)),
                  zero_source),
      exact_bytes("optimizer states", e.states, "every state tensor, by the shapes trained",
                  fmt::format("{} {} ({})", s.optimizer->package, s.optimizer->class_name,
                              s.optimizer->options.empty() ? "defaults" : s.optimizer->options),
                  "recorded from the named package after a step"),
      exact_bytes("attention activations", e.attention,
                  "what attention's operations keep for backward", passes, tape_source),
      exact_bytes("feed-forward activations", e.feed_forward,
                  "what feed-forward's operations keep for backward", passes, tape_source),
      exact_bytes("other activations", e.other, kept_of(s.recomputation), passes, tape_source),
      exact_bytes("recomputed layer", e.recomputed, "the largest layer's activations, once", "",
                  "torch.utils.checkpoint"),
      exact_bytes("activation gradients", e.transient,
                  "element * tokens * (widest of a layer + hidden), one layer", "",
                  "torch autograd"),
      exact_bytes(
          "logits and loss", e.loss, std::string(loss_formula(s)),
          fmt::format("vocabulary {}, at {}", s.model->profile.head_rows, name_of(e.moment)),
          runtime.source),
      exact_bytes(
          "gathered and reduced", e.gathered,
          s.zero >= 3 ? "weights of whole layers, the gradient of one" : "buckets of gradients", "",
          runtime.source),
      exact_bytes("scratch", e.scratch,
                  quantised_operands(s) ? "quantised copies of weights for either pass, workspaces"
                                        : "16-bit gradients of each distinct matrix, workspaces",
                  std::string(s.matrices != nullptr ? s.matrices->name : ""), runtime.source),
      exact_bytes("optimizer step", e.step, step_words(s), "", "torch/optim, _multi_tensor_*"),
      constant_term("driver context", e.context, "constant", runtime.context_bytes, 1),
      constant_term("fragmentation", e.fragmentation, "share of what comes and goes in a step",
                    runtime.fragmentation,
                    runtime.fragmentation.value > 0
                        ? real_count(e.fragmentation) / runtime.fragmentation.value
                        : 0),
  };
}

}  // namespace headroom::model
