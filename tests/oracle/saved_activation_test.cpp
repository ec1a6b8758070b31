// What autograd keeps for backward, measured, against the tape.
//
// data/training/saved_activations.csv.gz: torch 2.15 on the CPU and transformers 5.23, small
// models, one measurement a row; `env` cuda_emul has CUDA's dropout masks, fused attention and
// autocast list put in.
#include "model/saved_activation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
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

/// Not what a GPU does: the CPU's masks and its attention with dropout, experts one by one.
bool only_on_cpu(const Row& row) {
  return (row.at("dropout") != "0.0" && row.at("env") == "cpu") ||
         row.at("experts_impl") == "eager";
}

model::Model model_of(const Row& row) {
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
  return model::make_model(row.at("config_id"),
                           model::parse_config(boost::json::serialize(config), row.at("config_id")),
                           "");
}

TEST(SavedActivation, EveryMeasuredLayer) {
  std::map<std::string, model::Model> models;
  std::map<std::string, std::array<int, 3>> counts;
  std::set<std::string> shown;
  for (const Row& row : read_csv("training/saved_activations.csv.gz")) {
    if (only_on_cpu(row) || row.at("checkpointing") != "0" || row.at("trainable") != "full")
      continue;
    const std::string& id = row.at("config_id");
    const std::string& config = row.at("config");
    if (!models.contains(config)) models.emplace(config, model_of(row));
    const model::Model& m = models.at(config);
    const auto saved = model::saved_activations(m, mode_of(row, m.execution));
    const double batch = std::stod(row.at("batch")), sequence = std::stod(row.at("seq"));
    const double layer = saved.layer(0, batch, sequence), total = saved.total(batch, sequence);
    auto& count = counts[id];
    ++count[0];
    const bool layer_ok = layer == std::stod(row.at("per_layer_bytes"));
    const bool total_ok = total == std::stod(row.at("saved_bytes_total"));
    count[1] += layer_ok;
    count[2] += total_ok;
    if ((!layer_ok || !total_ok) &&
        shown.insert(id + row.at("dtype_mode") + row.at("attn") + row.at("env") + row.at("dropout"))
            .second)
      fmt::print("{} {} {} drop {} {} mask {} {}x{}: layer {:+} total {:+}\n", id,
                 row.at("dtype_mode"), row.at("attn"), row.at("dropout"), row.at("env"),
                 row.at("attention_mask"), batch, sequence,
                 layer - std::stod(row.at("per_layer_bytes")),
                 total - std::stod(row.at("saved_bytes_total")));
  }
  for (const auto& [id, c] : counts)
    fmt::print("{}: {} rows, {} layers, {} totals\n", id, c[0], c[1], c[2]);
}

}  // namespace
}  // namespace headroom::oracle
