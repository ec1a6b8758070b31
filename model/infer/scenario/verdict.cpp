// The names under which verdicts and reasons are stored.
#include "model/infer/scenario/verdict.hpp"

#include <array>

namespace headroom::model {

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::fits_one_gpu:
      return "fits_one_gpu";
    case Verdict::fits_gpus:
      return "fits_gpus";
    case Verdict::fits_cpu_offload:
      return "fits_cpu_offload";
    case Verdict::fits_disk_offload:
      return "fits_disk_offload";
    case Verdict::does_not_fit:
      return "does_not_fit";
    case Verdict::refused:
      return "refused";
  }
  return "";
}

std::string_view name_of(Confidence sure) {
  switch (sure) {
    case Confidence::yes:
      return "yes";
    case Confidence::marginal:
      return "marginal";
    case Confidence::no:
      return "no";
  }
  return "";
}

namespace {

/// In the order of Reason.
constexpr auto reason_names = std::to_array<std::string_view>({
    "",
    "gpu_memory",
    "ram",
    "disk",
    "no_offload",
    "heads_not_divisible",
    "precision_unsupported",
    "context_too_long",
    "no_gpu",
    "not_generative",
    "layers_not_divisible",
    "not_enough_gpus",
    "parallelism_unsupported",
    "cache_required",
    "widths_not_divisible",
    "groups_not_divisible",
    "vocabulary_not_divisible",
    "no_experts",
    "experts_span_replicas",
    "experts_not_divisible",
    "tokens_not_divisible",
    "nothing_shared",
    "passes_do_not_fill",
    "cards_unsupported",
    "model_unsupported",
    "cache_unsupported",
    "experts_divide_cards",
    "layers_not_described",
    "offload_unsupported",
    "too_many_sequences",
    "attention_unsupported",
});
static_assert(reason_names.size() == static_cast<std::size_t>(Reason::attention_unsupported) + 1);

}  // namespace

std::string_view name_of(Reason reason) {
  const auto at = static_cast<std::size_t>(reason);
  return at < reason_names.size() ? reason_names[at] : "";
}

}  // namespace headroom::model
