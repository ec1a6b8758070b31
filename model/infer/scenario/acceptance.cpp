// Measured acceptance of speculative decoding.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "model/infer/scenario/draft.hpp"

namespace headroom::model {
namespace {

using enum Proposer;

// Tokens a step as published, or 1 + k * the published share of all proposed tokens. All read
// 2026-11-25 to 28. Runs that their authors call broken are left out.
constexpr AcceptanceRow rows[] = {
    {modules, 1, 1.875, "DeepSeek-V3", "arXiv:2412.19437 section 5.4.3: 85 to 90 %"},
    {modules, 7, 3.20, "DeepSeek-V3-0324", "nebius/MTP-DeepSeek-V3-0324, original module"},
    {modules, 2, 1.988, "DeepSeek-V4-Flash", "vllm-project/vllm#41044: random prompts"},
    {modules, 3, 3.133, "DeepSeek-V4-Flash W4A16",
     "dnhkng.github.io/posts/gh200-benchmarking-part-2"},
    {modules, 4, 2.916, "DeepSeek-V4-Flash W4A16",
     "dnhkng.github.io/posts/gh200-benchmarking-part-2"},
    {modules, 1, 1.647, "Qwen3.8-27B", "tenstorrent/vllm#442: four kinds of text"},
    {modules, 2, 2.18, "Qwen3.8-27B NVFP4", "sudoingX/qwen38-mtp#11"},
    {modules, 4, 2.68, "Qwen3.8-27B NVFP4", "sudoingX/qwen38-mtp#11"},
    {modules, 2, 2.618, "Qwen3.8-27B UD-Q5_K_XL", "sudoingX/qwen38-mtp#15"},
    {modules, 4, 3.552, "Qwen3.8-27B UD-Q5_K_XL", "sudoingX/qwen38-mtp#15"},
    {modules, 4, 3.592, "Qwen3.8-27B Q4_K_M", "sudoingX/qwen38-mtp#42"},
    {modules, 4, 3.76, "Qwen3.8-27B UD-Q4_K_XL", "sudoingX/qwen38-mtp#43"},
    {modules, 3, 3.154, "Qwen3.8-27B UD-Q4_K_M", "sudoingX/qwen38-mtp#73"},
    {modules, 3, 3.199, "Qwen3.6-27B Q8_0", "ggml-org/llama.cpp#24340"},
    {modules, 6, 2.87, "Qwen3.6-27B AutoRound", "noonghunna/club-3090#105: vLLM's log"},
    {modules, 6, 2.72, "Qwen3.6-27B AutoRound", "noonghunna/club-3090#105: vLLM's log"},
    {modules, 1, 1.8835, "Qwen3.6-35B-A3B", "ggml-org/llama.cpp#22673"},
    {modules, 2, 2.63, "Qwen3.6-35B-A3B", "ggml-org/llama.cpp#22673"},
    {modules, 3, 3.138, "Qwen3.6-35B-A3B", "ggml-org/llama.cpp#22673"},
    {modules, 4, 3.568, "Qwen3.6-35B-A3B", "ggml-org/llama.cpp#22673"},
    {modules, 1, 1.45, "Qwen3.6-35B-A3B NVFP4", "vllm-project/vllm#47297: another engine"},
    {modules, 2, 2.62, "not stated", "ikawrakow/ik_llama.cpp#1669: vLLM's log"},
    {modules, 2, 2.22, "not stated", "ikawrakow/ik_llama.cpp#1669: vLLM's log"},
    {modules, 3, 3.76, "Qwen3.8-Flash-Next", "ikawrakow/ik_llama.cpp#2369: code"},
    {modules, 3, 2.39, "Qwen3.8-Flash-Next", "ikawrakow/ik_llama.cpp#2369: a story"},
    {head, 7, 3.53, "Llama-3.1-8B-Instruct", "vllm-project/vllm#26191: MT-bench"},
    {head, 6, 2.47, "MiniCPM3", "vllm-project/vllm#24243"},
    {block, 7, 2.6, "Qwen3.8-27B FP8", "vllm-project/recipes#839: 64000 random tokens"},
    {block, 7, 5.366, "Qwen3.8-27B", "xLLM-AI/xllm#2279: GSM8K"},
    {block, 15, 6.4, "Qwen3-8B", "z-lab/dflash#7: GSM8K in English"},
    {block, 15, 3.3, "Qwen3-8B", "z-lab/dflash#7: GSM8K in Chinese"},
};

/// Rows of one repository with one model, whatever its quantisation, are not independent.
std::pair<std::string_view, std::string_view> independent(const AcceptanceRow& row) {
  return {row.source.substr(0, row.source.find_first_of("#:, ")),
          row.model.substr(0, row.model.find(' '))};
}

double logit(double share) { return std::log(share / (1 - share)); }
double share_of(double logit) { return 1 / (1 + std::exp(-logit)); }

/// Student's t of a two-sided 80 % interval, by degrees of freedom from 1 on.
constexpr double student_t[] = {3.078, 1.886, 1.638, 1.533, 1.476, 1.440, 1.415, 1.397, 1.383};

}  // namespace

double acceptance_of(Size tokens, double length) {
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    double sum = 1, power = 1;
    for (Size k = 0; k < tokens; ++k) sum += power *= middle;
    (sum < length ? low : high) = middle;
  }
  return (low + high) / 2;
}

Acceptance measured_acceptance(Proposer proposer) {
  std::map<std::pair<std::string_view, std::string_view>, std::pair<double, Size>> sums;
  for (const AcceptanceRow& row : rows)
    if (row.proposer == proposer) {
      auto& [sum, count] = sums[independent(row)];
      sum += logit(acceptance_of(row.tokens, row.length));
      ++count;
    }
  const auto n = static_cast<Size>(sums.size());
  if (n < 2) return {};
  double mean = 0, squares = 0;
  std::vector<double> means;
  for (const auto& [group, sum] : sums) {
    means.push_back(sum.first / static_cast<double>(sum.second));
    mean += means.back() / static_cast<double>(n);
  }
  for (const double each : means) squares += (each - mean) * (each - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(n - 1));
  const auto freedom = std::min<Size>(n - 1, std::ssize(student_t));
  const double reach =
      student_t[freedom - 1] * deviation * std::sqrt(1 + 1 / static_cast<double>(n));
  return {share_of(mean - reach), share_of(mean), share_of(mean + reach), n};
}

}  // namespace headroom::model
