// The one place where a verdict becomes words.
#include "report/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "hardware/quantity_text.hpp"
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
  return fmt::format("{} of layers{}", percent(share_of_layers), where);
}

constexpr std::string_view no_layer = "no whole layer: experts, embedding, head or single tensors";

std::string offload_words(const Estimate& e) {
  if (e.gpus_used == 0) return "runs on the CPU alone";
  const double cpu = layer_share(e.layers_cpu, e);
  if (e.layers_cpu == 0) return fmt::format("fits with CPU offload ({})", no_layer);
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
      if (e.layers_cpu + e.layers_disk == 0)
        return fmt::format("CPU + disk offload, slow ({})", no_layer);
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

constexpr auto words_of_reasons = std::to_array<std::pair<model::Reason, std::string_view>>({
    {model::Reason::none, ""},
    {model::Reason::gpu_memory, "GPU memory is short"},
    {model::Reason::ram, "CPU memory is short"},
    {model::Reason::disk, "disk is short"},
    {model::Reason::no_offload, "the engine does not offload"},
    {model::Reason::heads_not_divisible, "tensor parallelism does not divide the heads"},
    {model::Reason::precision_unsupported, "the engine does not support this precision"},
    {model::Reason::context_too_long, "the context is beyond the model's positions"},
    {model::Reason::no_gpu, "the engine needs a GPU"},
    {model::Reason::cards_unsupported, "the engine has no kernels for these cards"},
    {model::Reason::model_unsupported, "the engine does not run models of this class"},
    {model::Reason::not_generative, "the model writes no text"},
    {model::Reason::layers_not_divisible, "fewer layers than pipeline stages"},
    {model::Reason::not_enough_gpus, "the parallel sizes ask for more cards than there are"},
    {model::Reason::parallelism_unsupported, "the engine does not split that way"},
    {model::Reason::cache_required, "the engine needs a KV cache"},
    {model::Reason::widths_not_divisible, "tensor parallelism does not divide every matrix"},
    {model::Reason::groups_not_divisible, "tensor parallelism cuts a quantisation group"},
    {model::Reason::vocabulary_not_divisible,
     "tensor parallelism does not divide the padded vocabulary"},
    {model::Reason::no_experts, "expert parallelism of a model without experts"},
    {model::Reason::experts_span_replicas,
     "experts spread over all tensor × data parallel cards, no other number"},
    {model::Reason::experts_divide_cards,
     "expert parallelism takes a number that divides the tensor-parallel cards and the "
     "experts"},
    {model::Reason::layers_not_described, "what its layers keep for backward is not described"},
    {model::Reason::attention_unsupported, "flash-attn has no kernel for its attention"},
    {model::Reason::offload_unsupported,
     "the engine does not move weights or optimizer states there"},
    {model::Reason::too_many_sequences, "more sequences at once than the engine starts with"},
    {model::Reason::cache_unsupported, "the engine has no such KV cache format"},
    {model::Reason::experts_not_divisible,
     "expert parallelism does not divide the experts, or the replicas it"},
    {model::Reason::tokens_not_divisible, "context parallelism does not divide the sequence"},
    {model::Reason::nothing_shared,
     "nothing is sharded: one replica, or a ZeRO stage below 3 with weights offloaded"},
    {model::Reason::passes_do_not_fill, "fewer passes than the stages of an interleaved pipeline"},
});

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
  const bool at_edge = model::is_at_limit(line.factors.memory.measurements, entry.estimate) &&
                       entry.estimate.verdict != Verdict::refused;
  const Size waiting = entry.estimate.queued;
  return plain_words(line, entry) +
         (waiting > 0 ? fmt::format(", {} of its sequences wait", waiting) : std::string()) +
         (at_edge ? model::fits(entry.estimate.verdict) ? ", tight" : ", or just fits" : "");
}

std::string_view reason_words(model::Reason reason) {
  const auto row = std::ranges::find(words_of_reasons, reason,
                                     &std::pair<model::Reason, std::string_view>::first);
  return row == words_of_reasons.end() ? model::name_of(reason) : row->second;
}

std::string gpus_words(const ModelRow& line, const BudgetPoint& entry) {
  const Size used = entry.estimate.gpus_used;
  if (used == 0) return "";
  return used == line.gpus ? counted(used, "GPU") : fmt::format("{} of {} GPUs", used, line.gpus);
}

std::string speed_words(const Estimate& e) {
  return e.tokens_s > 0 ? shown(e.tokens_s, DisplayUnit::plain) : "";
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

std::string precision_label(const ModelRow& line) {
  return line.one_engine ? line.held : fmt::format("{} ({})", line.held, line.runtime);
}

std::string gib(Bytes bytes) {
  return shown(static_cast<double>(bytes.count()), DisplayUnit::gib) + " GiB";
}

}  // namespace headroom::report
