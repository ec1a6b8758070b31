// The names under which verdicts and reasons are stored.
#include "model/infer/scenario/verdict.hpp"

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

std::string_view name_of(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "";
    case Reason::gpu_memory:
      return "gpu_memory";
    case Reason::ram:
      return "ram";
    case Reason::disk:
      return "disk";
    case Reason::no_offload:
      return "no_offload";
    case Reason::heads_not_divisible:
      return "heads_not_divisible";
    case Reason::precision_unsupported:
      return "precision_unsupported";
    case Reason::context_too_long:
      return "context_too_long";
    case Reason::no_gpu:
      return "no_gpu";
    case Reason::not_generative:
      return "not_generative";
    case Reason::layers_not_divisible:
      return "layers_not_divisible";
    case Reason::not_enough_gpus:
      return "not_enough_gpus";
    case Reason::parallelism_unsupported:
      return "parallelism_unsupported";
    case Reason::cache_required:
      return "cache_required";
    case Reason::widths_not_divisible:
      return "widths_not_divisible";
    case Reason::groups_not_divisible:
      return "groups_not_divisible";
    case Reason::vocabulary_not_divisible:
      return "vocabulary_not_divisible";
    case Reason::no_experts:
      return "no_experts";
    case Reason::experts_span_replicas:
      return "experts_span_replicas";
    case Reason::experts_not_divisible:
      return "experts_not_divisible";
    case Reason::tokens_not_divisible:
      return "tokens_not_divisible";
    case Reason::nothing_shared:
      return "nothing_shared";
    case Reason::passes_do_not_fill:
      return "passes_do_not_fill";
    case Reason::cards_unsupported:
      return "cards_unsupported";
    case Reason::model_unsupported:
      return "model_unsupported";
    case Reason::cache_unsupported:
      return "cache_unsupported";
    case Reason::experts_divide_cards:
      return "experts_divide_cards";
    case Reason::offload_unsupported:
      return "offload_unsupported";
  }
  return "";
}

}  // namespace headroom::model
