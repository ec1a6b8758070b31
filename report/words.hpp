// Verdicts and speeds as a reader wants them.
#pragma once

#include <string>
#include <string_view>

#include "model/answer/way_order.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/selection.hpp"

namespace headroom::report {

/// The quality of a verdict, which advice compares.
enum class Grade { on_gpus, cpu_offload, disk_offload, does_not_fit, refused };
Grade grade(const model::Estimate& estimate);

/// "fits easily" (at most half of the card), "fits on 1 GPU", "fits on 2 GPUs", "fits with CPU
/// offload (38 % of layers)", "needs extensive CPU offload (62 % of layers)" (over half), "CPU +
/// disk offload, slow (…)", "does not fit: 12.3 GiB of CPU memory short", "refused: …";
/// and ", tight" or ", or just fits" where the interval reaches over the limit.
std::string verdict_words(const ModelRow& line, const BudgetPoint& entry);
/// "4 of 8 GPUs", "1 GPU"; empty where none is used.
std::string gpus_words(const ModelRow& line, const BudgetPoint& entry);
std::string_view reason_words(model::Reason reason);

/// Decode speed of one sequence as a class; thresholds in tokens per second.
inline constexpr double fast_from = 20, medium_from = 5, slow_from = model::usable_tokens_s;
/// "fast", "medium", "slow", "very slow"; empty where it does not run.
std::string_view speed_class(const model::Estimate& estimate);
/// Tokens per second; empty where it does not run.
std::string speed_words(const model::Estimate& estimate);
/// One sentence that states the thresholds.
std::string speed_classes_explained();

/// The precision of a line: "int8", or "q4_K_M (llama.cpp)" on a machine with several engines.
std::string precision_label(const ModelRow& line);

/// "12.34 GiB".
std::string gib(Bytes bytes);

}  // namespace headroom::report
