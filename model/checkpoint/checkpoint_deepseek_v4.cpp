// DeepSeek-V4: FP8 with squares of 128 x 128 (V4.1: 32 x 32), and experts of a type of their own.
// DeepSeek-V4's config says the experts' type outside its quantization_config.
#include <fmt/format.h>

#include "model/checkpoint/checkpoint_methods.hpp"

namespace headroom::model {
namespace {

/// The experts' type. Source: vLLM 0.33 models/deepseek_v4/quant_config.py.
std::string expert_dtype(const Config& q, const Config& file) {
  const Config& holder = file.has("expert_dtype") ? file : q;
  const std::string type = holder.text({"expert_dtype"}, "fp4");
  if (type != "fp4" && type != "fp8")
    holder.fail("expert_dtype", fmt::format("found '{}', expected fp4 or fp8", type));
  return type;
}

/// The scheme of routed experts.
std::string expert_scheme(const Config& q) {
  const std::string algorithm = q.text({"moe_quant_algo"}, "");
  if (!algorithm.empty() && algorithm != "NVFP4")
    q.fail("moe_quant_algo", fmt::format("found '{}', expected NVFP4", algorithm));
  return algorithm.empty() ? "mxfp4-linear" : "nvfp4";
}

}  // namespace

/// Scales of a byte each (E8M0) come with FP4 experts, else scales are in fp32.
std::string deepseek_v4_scheme(const Config& q, const Config& file) {
  const bool small =
      q.has("weight_block_size") && q.dims({"weight_block_size"}) == std::vector<Size>{32, 32};
  if (small && expert_dtype(q, file) == "fp4") return "fp8-block32-e8m0";
  const std::string scheme = fp8_scheme(q);
  return scheme == "fp8-block" && expert_dtype(q, file) == "fp4" ? "fp8-block-e8m0" : scheme;
}

/// Compressors, the indexer's weights, the vision tower and DeepSeek-V4.1's heads for drafts stay
/// in 16 bit. Its tables of n-grams have a scale for each 32 elements. In ModelOpt's files with
/// NVFP4 layers, modules for further tokens keep the original's MXFP4 experts. Source: vLLM 0.33
/// models/deepseek_v4/{compressor,attention}.py, models/deepseek_v41/attention.py, nvidia/dspark.py
/// and common/engram.py.
void deepseek_v4_exceptions(const Config& q, const Config& file, CheckpointDetails& details) {
  stay(details, {R"(re:.*\.compressor\.(?:indexer\.)?(?:kv_proj|gate_proj))",
                 R"(re:.*\.weights_proj)", R"(re:.*\.indexer\.wk)", R"(re:(?:vision|aligner)\..*)",
                 R"(re:mtp\..*\.confidence_head\.proj)"});
  details.groups.push_back({"mxfp8-linear", {R"(re:.*\.engram\.embed)"}, true});
  for (const char* key : {"modules_to_not_convert", "ignored_layers"})
    stay(details, q.texts({key}));
  if (expert_dtype(q, file) != "fp4") return;
  // ModelOpt also lists the experts' modules, and those that keep the original's types.
  check_layers(q, std::vector<CheckpointGroup>{{expert_scheme(q), {"Linear"}}});
  q.has("ignore");
  details.groups.push_back({"mxfp4-linear", {R"(re:mtp\..*\.experts)"}});
  details.groups.push_back({expert_scheme(q), {R"(re:.*\.experts)"}});
}

}  // namespace headroom::model
