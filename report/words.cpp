// The one place where a verdict becomes words.
#include "report/words.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/format.hpp"

namespace headroom::report {
namespace {

using model::Estimate;
using model::Verdict;

double layer_share(Size part, const Estimate& e) {
  const Size all = e.layers_gpu + e.layers_cpu + e.layers_disk;
  return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

std::string layers(double share_of_layers, std::string_view where) {
  return fmt::format("{:.0f} % of layers{}", share_of_layers * 100, where);
}

std::string offload_words(const Estimate& e) {
  if (e.gpus_used == 0) return "runs on the CPU alone";
  const double cpu = layer_share(e.layers_cpu, e);
  if (e.layers_cpu == 0) return "fits with CPU offload (no whole layer: its ends or some tensors)";
  return cpu > 0.5 ? "needs extensive CPU offload (" + layers(cpu, "") + ")"
                   : "fits with CPU offload (" + layers(cpu, "") + ")";
}

std::string short_words(const Estimate& e) {
  const std::string_view where = e.reason == model::Reason::ram    ? "CPU memory"
                                 : e.reason == model::Reason::disk ? "disk"
                                                                   : "GPU memory";
  return fmt::format("does not fit: {} of {} short", gib(e.short_bytes), where);
}

std::string plain_words(const ModelRow& line, const BudgetPoint& entry) {
  const Estimate& e = entry.estimate;
  switch (e.verdict) {
    case Verdict::fits_one_gpu:
      return line.gpu_memory > 0 && 2 * e.gpu_bytes.count() <= line.gpu_memory ? "fits easily"
                                                                               : "fits on 1 GPU";
    case Verdict::fits_gpus:
      return fmt::format("fits on {} GPUs", e.gpus_used);
    case Verdict::fits_cpu_offload:
      return offload_words(e);
    case Verdict::fits_disk_offload:
      return fmt::format("CPU + disk offload, slow ({}, {})",
                         layers(layer_share(e.layers_cpu, e), " on CPU"),
                         layers(layer_share(e.layers_disk, e), " on disk"));
    case Verdict::does_not_fit:
      return short_words(e);
    case Verdict::refused:
      return fmt::format("refused: {}", reason_words(e.reason));
  }
  return "";
}

}  // namespace

Grade grade(const Estimate& e) {
  switch (e.verdict) {
    case Verdict::fits_one_gpu:
    case Verdict::fits_gpus:
      return Grade::on_gpus;
    case Verdict::fits_cpu_offload:
      return Grade::cpu_offload;
    case Verdict::fits_disk_offload:
      return Grade::disk_offload;
    case Verdict::does_not_fit:
      return Grade::does_not_fit;
    default:
      return Grade::refused;
  }
}

std::string verdict_words(const ModelRow& line, const BudgetPoint& entry) {
  const bool marginal = entry.estimate.sure == model::Confidence::marginal &&
                        line.factors.memory.measurements > 0 &&
                        entry.estimate.verdict != Verdict::refused;
  const Size waiting = entry.estimate.queued;
  return plain_words(line, entry) +
         (waiting > 0 ? fmt::format(", {} of its sequences wait", waiting) : std::string()) +
         (marginal ? " (marginal)" : "");
}

std::string_view reason_words(model::Reason reason) {
  using enum model::Reason;
  switch (reason) {
    case none:
      return "";
    case gpu_memory:
      return "GPU memory is short";
    case ram:
      return "CPU memory is short";
    case disk:
      return "disk is short";
    case no_offload:
      return "the engine does not offload";
    case heads_not_divisible:
      return "tensor parallelism does not divide the heads";
    case precision_unsupported:
      return "the engine does not support this precision";
    case context_too_long:
      return "the context is beyond the model's positions";
    case no_gpu:
      return "the engine needs a GPU";
    case cards_unsupported:
      return "the engine has no kernels for cards of this vendor";
    case model_unsupported:
      return "the engine does not run encoder-decoders of this class";
    case not_generative:
      return "the model is an encoder, which generates nothing";
    case layers_not_divisible:
      return "fewer layers than pipeline stages";
    case not_enough_gpus:
      return "the parallel sizes ask for more cards than there are";
    case parallelism_unsupported:
      return "the engine does not split that way";
    case cache_required:
      return "the engine needs a KV cache";
    case widths_not_divisible:
      return "tensor parallelism does not divide every matrix";
    case groups_not_divisible:
      return "tensor parallelism cuts a quantisation group";
    case vocabulary_not_divisible:
      return "tensor parallelism does not divide the padded vocabulary";
    case no_experts:
      return "expert parallelism of a model without experts";
    case experts_span_replicas:
      return "experts spread over all tensor × data parallel cards, no other number";
    case experts_divide_cards:
      return "expert parallelism takes a number that divides the tensor-parallel cards and the "
             "experts";
    case cache_unsupported:
      return "the engine has no such KV cache format";
    case experts_not_divisible:
      return "expert parallelism does not divide the experts, or the replicas it";
    case tokens_not_divisible:
      return "context parallelism does not divide the sequence";
    case nothing_shared:
      return "nothing is shared out: one replica, or a ZeRO stage below 3 with weights offloaded";
    case passes_do_not_fill:
      return "fewer passes than the stages of an interleaved pipeline";
  }
  return model::name_of(reason);
}

std::string_view speed_class(const Estimate& e) {
  const double tpot = e.tpot.value();
  if (!std::isfinite(tpot) || tpot <= 0) return "";
  const double speed = 1 / tpot;
  if (speed >= fast_from) return "fast";
  if (speed >= medium_from) return "medium";
  return speed >= slow_from ? "slow" : "very slow";
}

std::string speed_classes_explained() {
  return fmt::format(
      "Speed classes go by the output tokens per second of one sequence: fast from {}, medium from "
      "{}, slow from {}, very slow below.",
      fast_from, medium_from, slow_from);
}

std::string held_label(const ModelRow& line) {
  return line.group.empty() ? fmt::format("{} ({})", line.held, line.runtime) : line.held;
}

std::string gib(Bytes bytes) {
  return shown(static_cast<double>(bytes.count()), DisplayUnit::gib) + " GiB";
}

}  // namespace headroom::report
