// What autograd keeps for backward, measured, against the tape.
//
// data/training/saved_activations.csv.gz: torch 2.15 on the CPU and transformers 5.23, small
// models, one measurement a row; `env` cuda_emul has CUDA's dropout masks, fused attention and
// autocast list put in.
#include "model/tape/saved_activation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>

#include "csv.hpp"
#include "reference.hpp"

namespace headroom::oracle {
namespace {

using model::Held;

model::TapeMode mode_of(const Row& row, const model::Execution& execution) {
  const bool cuda = row.at("env") == "cuda_emul";
  const double dropout = std::stod(row.at("dropout"));
  model::TapeMode mode{.parameters = row.at("dtype_mode") == "bfloat16" ? Held::bf16 : Held::fp32,
                       .autocast = row.at("dtype_mode") == "autocast_bf16",
                       .one_sequence = row.at("batch") == "1",
                       .attention_dropout = execution.attention_dropout,
                       .hidden_dropout = execution.hidden_dropout};
  mode.kernels = {.fused_attention = row.at("attn") == "sdpa",
                  .attention_by_token = cuda && dropout > 0,
                  .byte_masks = cuda,
                  .autocast_fp32 = cuda,
                  .fp32_statistics = false};
  return mode;
}

/// Not what a GPU does: the CPU's masks and its attention with dropout or with a bias that is
/// trained, experts one by one.
bool only_on_cpu(const Row& row) {
  const bool biased = row.at("config_id").starts_with("t5") && row.at("attn") == "sdpa";
  return ((row.at("dropout") != "0.0" || biased) && row.at("env") == "cpu") ||
         row.at("experts_impl") == "eager";
}

/// A model and what its config says of how it runs.
struct Described {
  model::Model model;
  model::Execution execution;
};
Described model_of(const Row& row) {
  static const std::map<std::string, std::string> classes = {
      {"llama", "LlamaForCausalLM"},        {"qwen2", "Qwen2ForCausalLM"},
      {"phi3", "Phi3ForCausalLM"},          {"gemma", "GemmaForCausalLM"},
      {"gemma2", "Gemma2ForCausalLM"},      {"gpt2", "GPT2LMHeadModel"},
      {"gpt_neox", "GPTNeoXForCausalLM"},   {"falcon", "FalconForCausalLM"},
      {"mixtral", "MixtralForCausalLM"},    {"qwen2_moe", "Qwen2MoeForCausalLM"},
      {"olmo2", "Olmo2ForCausalLM"},        {"gpt_oss", "GptOssForCausalLM"},
      {"cohere", "CohereForCausalLM"},      {"stablelm", "StableLmForCausalLM"},
      {"t5", "T5ForConditionalGeneration"}, {"roberta", "RobertaForMaskedLM"},
      {"mamba", "MambaForCausalLM"}};
  auto config = boost::json::parse(row.at("config")).as_object();
  const std::string type(config.at("model_type").as_string());
  config["architectures"] = boost::json::array{boost::json::string(classes.at(type))};
  const auto parsed = model::parse_config(boost::json::serialize(config), row.at("config_id"));
  return {model::make_model(row.at("config_id"), parsed, ""), model::execution_of(parsed)};
}

/// What does not come out to the byte, all of it: our total over the measured one lies within these
/// bounds, and does not always meet it. The reason is where the difference lies, as far as known.
struct Difference {
  std::string_view config;
  double low, high;
  std::string_view reason;
};
constexpr auto differences = std::to_array<Difference>({
    {"cohere-B", 0.998, 1, "norms of queries and keys with statistics in 16 bit"},
    {"falcon-A", 0.9999, 1.109, "masks of attention that the fused kernel is given or not"},
    {"falcon-B", 0.9999, 1.04, "the same"},
    {"falcon-C", 0.971, 1.011, "the same; keys spread to the heads of a group"},
    {"gemma2-A", 0.899, 0.975, "soft caps that the config leaves to its class"},
    {"gpt_oss-A", 0.998, 1, "index lists of the experts"},
    {"gpt_oss-B", 0.999, 1, "the same"},
    {"mamba-A", 0.06, 0.15, "recurrent mixers are not described"},
    {"phi3-A", 1, 1.01, "residual dropout of fused projections"},
    {"phi3-B", 1, 1.008, "the same"},
    {"qwen2_moe-A", 1, 1.001, "the shared expert's gate"},
    {"roberta-A", 0.908, 1.005, "an encoder's masks, position tables and head"},
    {"stablelm-A", 1, 1.013, "norms of each head apart, residual dropout"},
    {"stablelm-B", 0.999, 1.011, "the same"},
    {"t5-A", 1, 1.0244, "scores under autocast on the CPU; what CUDA keeps comes out"},
    {"t5-B", 1, 1.0082, "the same"},
});

const Difference* difference_of(const std::string& config) {
  for (const Difference& each : differences)
    if (each.config == config) return &each;
  return nullptr;
}

TEST(SavedActivation, EveryMeasuredLayer) {
  std::map<std::string, Described> models;
  std::map<std::string, int> compared, exact;
  std::map<std::string, std::pair<double, double>> ratios;
  for (const Row& row : read_csv("training/saved_activations.csv.gz")) {
    const std::string& id = row.at("config_id");
    if (only_on_cpu(row) || row.at("checkpointing") != "0" || row.at("trainable") != "full" ||
        row.at("attention_mask") == "padded")
      continue;
    const std::string& config = row.at("config");
    if (!models.contains(config)) models.emplace(config, model_of(row));
    const auto& [m, execution] = models.at(config);
    const auto saved = model::saved_activations(m, execution, mode_of(row, execution));
    const double batch = std::stod(row.at("batch")), sequence = std::stod(row.at("seq"));
    const std::string what =
        fmt::format("{} {} {} dropout {} {} {} x {}", id, row.at("dtype_mode"), row.at("attn"),
                    row.at("dropout"), row.at("env"), batch, sequence);
    const double ratio = saved.total(batch, sequence) / std::stod(row.at("saved_bytes_total"));
    auto [at, first] = ratios.emplace(id, std::pair{ratio, ratio});
    at->second = {std::min(at->second.first, ratio), std::max(at->second.second, ratio)};
    ++compared[id];
    exact[id] += ratio == 1;
    if (difference_of(id) != nullptr) continue;
    EXPECT_EQ(saved.layer(0, batch, sequence), std::stod(row.at("per_layer_bytes"))) << what;
    EXPECT_EQ(ratio, 1) << what;
  }
  EXPECT_EQ(compared.size(), 33U);
  for (const auto& [id, n] : compared) {
    const Difference* known = difference_of(id);
    if (known == nullptr) continue;
    EXPECT_GE(ratios[id].first, known->low) << id << ": " << known->reason;
    EXPECT_LE(ratios[id].second, known->high) << id << ": " << known->reason;
    EXPECT_LT(exact[id], n) << id << " comes out to the byte now: it is no difference";
  }
  if (std::getenv("HEADROOM_SHOW") != nullptr)
    for (const auto& [id, n] : compared)
      fmt::print("{} {} of {} exact, {:.4f} to {:.4f}\n", id, exact[id], n, ratios[id].first,
                 ratios[id].second);
}

}  // namespace
}  // namespace headroom::oracle
