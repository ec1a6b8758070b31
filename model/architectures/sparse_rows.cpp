// The rows of mixtures of experts, latent attention, hybrids and recurrent models, one block per
// file of this folder.
#include "model/architectures/rows.hpp"
#include "model/architectures/sparse_families.hpp"

namespace headroom::model::families {

namespace {

/// The model without its head: what the first child of a causal language model holds.
template <Part (*causal)(const Config&)>
Part trunk_of(const Config& c) {
  const Part whole = causal(c);
  const std::string scope = whole.modules.front().path + '.';
  Part body{.no_split = whole.no_split};
  const auto below = [&](const std::string& path) { return path.starts_with(scope); };
  for (const auto& m : whole.modules)
    if (below(m.path)) body.modules.push_back({m.path.substr(scope.size()), m.class_name});
  for (Tensor t : whole.tensors) {
    if (!below(t.name)) continue;
    t.name.erase(0, scope.size());
    if (below(t.tied_to)) t.tied_to.erase(0, scope.size());
    body.tensors.push_back(std::move(t));
  }
  for (Cache cache : whole.caches) {
    cache.path.erase(0, scope.size());
    body.caches.push_back(std::move(cache));
  }
  for (const auto& b : whole.blocks) body.blocks.push_back(b.substr(scope.size()));
  return body;
}

constexpr Architecture rows[] = {
    // afmoe.cpp
    {"AfmoeForCausalLM", "afmoe", afmoe},
    // aria_text.cpp
    {"AriaTextForCausalLM", "aria_text", aria_text},
    // axk2.cpp
    {"AXK2ForCausalLM", "axk2", axk2},
    // cohere2_moe.cpp
    {"Cohere2MoeForCausalLM", "cohere2_moe", cohere2_moe},
    // dbrx.cpp
    {"DbrxForCausalLM", "dbrx", dbrx},
    // deepseek.cpp
    {"DeepseekV2ForCausalLM", "deepseek_v2", deepseek_v2},
    {"DeepseekV3ForCausalLM", "deepseek_v3", deepseek_v3},
    {"DeepseekV3ForCausalLM", "kimi_k2", deepseek_v3},
    {"DeepseekV32ForCausalLM", "deepseek_v32", deepseek_v32},
    {"AXK1ForCausalLM", "axk1", axk1},
    // deepseek_v4.cpp
    {"DeepseekV4ForCausalLM", "deepseek_v4", deepseek_v4},
    // ernie4_5_moe.cpp
    {"Ernie4_5_MoeForCausalLM", "ernie4_5_moe", ernie4_5_moe},
    // exaone_moe.cpp
    {"ExaoneMoeForCausalLM", "exaone_moe", exaone_moe},
    // falcon_h1.cpp
    {"FalconH1ForCausalLM", "falcon_h1", falcon_h1},
    {"BambaForCausalLM", "bamba", bamba},
    // flex_olmo.cpp
    {"FlexOlmoForCausalLM", "flex_olmo", flex_olmo},
    {"OlmoHybridForCausalLM", "olmo_hybrid", olmo_hybrid},
    // flint.cpp
    {"FlintForCausalLM", "flint", flint},
    {"BeamForCausalLM", "beam", beam},
    // glm_moe.cpp
    {"Glm4MoeForCausalLM", "glm4_moe", glm4_moe},
    {"Glm4MoeLiteForCausalLM", "glm4_moe_lite", glm4_moe_lite},
    {"GlmMoeDsaForCausalLM", "glm_moe_dsa", glm_moe_dsa},
    // gpt_oss.cpp
    {"GptOssForCausalLM", "gpt_oss", gpt_oss},
    {"OpenAIPrivacyFilterModel", "openai_privacy_filter", openai_privacy_filter},
    {"OpenAIPrivacyFilterForTokenClassification", "openai_privacy_filter", openai_privacy_filter},
    // granite_moe.cpp
    {"GraniteMoeForCausalLM", "granitemoe", granitemoe},
    {"GraniteMoeSharedForCausalLM", "granitemoeshared", granitemoeshared},
    {"GraniteMoeSWAForCausalLM", "granitemoe_swa", granitemoe_swa},
    {"GraniteMoeHybridForCausalLM", "granitemoehybrid", granitemoehybrid},
    // hunyuan_moe.cpp
    {"HunYuanMoEV1ForCausalLM", "hunyuan_v1_moe", hunyuan_v1_moe},
    {"HYV3ForCausalLM", "hy_v3", hy_v3},
    // hy_v4.cpp
    {"HYV4ForCausalLM", "hy_v4", hy_v4},
    // jamba.cpp
    {"JambaForCausalLM", "jamba", jamba},
    // jetmoe.cpp
    {"JetMoeForCausalLM", "jetmoe", jetmoe},
    // kimi_linear.cpp
    {"KimiLinearForCausalLM", "kimi_linear", kimi_linear},
    {"BailingHybridForCausalLM", "bailing_hybrid", bailing_hybrid},
    // kolibri1.cpp
    {"Kolibri1ForCausalLM", "kolibri1", kolibri1},
    // laguna.cpp
    {"LagunaForCausalLM", "laguna", laguna},
    {"MellumForCausalLM", "mellum", mellum},
    // lfm.cpp
    {"Lfm2ForCausalLM", "lfm2", lfm2},
    {"Lfm2MoeForCausalLM", "lfm2_moe", lfm2_moe},
    {"Lfm3ForCausalLM", "lfm3", lfm3},
    // longcat_flash.cpp
    {"LongcatFlashForCausalLM", "longcat_flash", longcat_flash},
    // mamba.cpp
    {"MambaForCausalLM", "mamba", mamba},
    {"Mamba2ForCausalLM", "mamba2", mamba2},
    {"FalconMambaForCausalLM", "falcon_mamba", falcon_mamba},
    // mimo_v2_flash.cpp
    {"MiMoV2FlashForCausalLM", "mimo_v2_flash", mimo_v2_flash},
    // minicpm3.cpp
    {"MiniCPM3ForCausalLM", "minicpm3", minicpm3},
    {"Mistral4ForCausalLM", "mistral4", mistral4},
    {"YoutuForCausalLM", "youtu", youtu},
    // minimax.cpp
    {"MiniMaxForCausalLM", "minimax", minimax},
    // minimax_m2.cpp
    {"MiniMaxM2ForCausalLM", "minimax_m2", minimax_m2},
    // mixtral.cpp
    {"MixtralForCausalLM", "mixtral", mixtral},
    // nemotron_h.cpp
    {"NemotronHForCausalLM", "nemotron_h", nemotron_h},
    // olmoe.cpp
    {"OlmoeForCausalLM", "olmoe", olmoe},
    // phimoe.cpp
    {"PhimoeForCausalLM", "phimoe", phimoe},
    // qwen3_next.cpp
    {"Qwen3NextForCausalLM", "qwen3_next", qwen3_next},
    {"Qwen3_5ForCausalLM", "qwen3_5_text", qwen3_5},
    {"Qwen3_5MoeForCausalLM", "qwen3_5_moe_text", qwen3_5_moe},
    // qwen_moe.cpp
    {"Qwen2MoeForCausalLM", "qwen2_moe", qwen2_moe},
    {"Qwen3MoeForCausalLM", "qwen3_moe", qwen3_moe},
    // recurrent_gemma.cpp
    {"RecurrentGemmaForCausalLM", "recurrent_gemma", recurrent_gemma},
    // rwkv.cpp
    {"RwkvForCausalLM", "rwkv", rwkv},
    // solar_open.cpp
    {"SolarOpenForCausalLM", "solar_open", solar_open},
    {"Dots1ForCausalLM", "dots1", dots1},
    // xlstm.cpp
    {"xLSTMForCausalLM", "xlstm", xlstm},
    // zamba.cpp
    {"ZambaForCausalLM", "zamba", zamba},
    {"Zamba2ForCausalLM", "zamba2", zamba2},
    // minimax_m3.cpp
    {"MiniMaxM3VLForCausalLM", "minimax_m3_vl_text", minimax_m3_text},
    // zaya.cpp
    {"ZayaForCausalLM", "zaya", zaya},
    // The same without their heads.
    {"AfmoeModel", "afmoe", trunk_of<afmoe>},
    {"AriaTextModel", "aria_text", trunk_of<aria_text>},
    {"AXK2Model", "axk2", trunk_of<axk2>},
    {"Cohere2MoeModel", "cohere2_moe", trunk_of<cohere2_moe>},
    {"DbrxModel", "dbrx", trunk_of<dbrx>},
    {"DeepseekV2Model", "deepseek_v2", trunk_of<deepseek_v2>},
    {"DeepseekV3Model", "deepseek_v3", trunk_of<deepseek_v3>},
    {"DeepseekV32Model", "deepseek_v32", trunk_of<deepseek_v32>},
    {"AXK1Model", "axk1", trunk_of<axk1>},
    {"DeepseekV4Model", "deepseek_v4", trunk_of<deepseek_v4>},
    {"Ernie4_5_MoeModel", "ernie4_5_moe", trunk_of<ernie4_5_moe>},
    {"ExaoneMoeModel", "exaone_moe", trunk_of<exaone_moe>},
    {"FalconH1Model", "falcon_h1", trunk_of<falcon_h1>},
    {"BambaModel", "bamba", trunk_of<bamba>},
    {"FlexOlmoModel", "flex_olmo", trunk_of<flex_olmo>},
    {"OlmoHybridModel", "olmo_hybrid", trunk_of<olmo_hybrid>},
    {"FlintModel", "flint", trunk_of<flint>},
    {"BeamModel", "beam", trunk_of<beam>},
    {"Glm4MoeModel", "glm4_moe", trunk_of<glm4_moe>},
    {"Glm4MoeLiteModel", "glm4_moe_lite", trunk_of<glm4_moe_lite>},
    {"GlmMoeDsaModel", "glm_moe_dsa", trunk_of<glm_moe_dsa>},
    {"GptOssModel", "gpt_oss", trunk_of<gpt_oss>},
    {"GraniteMoeModel", "granitemoe", trunk_of<granitemoe>},
    {"GraniteMoeSharedModel", "granitemoeshared", trunk_of<granitemoeshared>},
    {"GraniteMoeSWAModel", "granitemoe_swa", trunk_of<granitemoe_swa>},
    {"GraniteMoeHybridModel", "granitemoehybrid", trunk_of<granitemoehybrid>},
    {"HunYuanMoEV1Model", "hunyuan_v1_moe", trunk_of<hunyuan_v1_moe>},
    {"HYV3Model", "hy_v3", trunk_of<hy_v3>},
    {"HYV4Model", "hy_v4", trunk_of<hy_v4>},
    {"JambaModel", "jamba", trunk_of<jamba>},
    {"JetMoeModel", "jetmoe", trunk_of<jetmoe>},
    {"KimiLinearModel", "kimi_linear", trunk_of<kimi_linear>},
    {"BailingHybridModel", "bailing_hybrid", trunk_of<bailing_hybrid>},
    {"Kolibri1Model", "kolibri1", trunk_of<kolibri1>},
    {"LagunaModel", "laguna", trunk_of<laguna>},
    {"MellumModel", "mellum", trunk_of<mellum>},
    {"Lfm2Model", "lfm2", trunk_of<lfm2>},
    {"Lfm2MoeModel", "lfm2_moe", trunk_of<lfm2_moe>},
    {"Lfm3Model", "lfm3", trunk_of<lfm3>},
    {"LongcatFlashModel", "longcat_flash", trunk_of<longcat_flash>},
    {"MambaModel", "mamba", trunk_of<mamba>},
    {"Mamba2Model", "mamba2", trunk_of<mamba2>},
    {"FalconMambaModel", "falcon_mamba", trunk_of<falcon_mamba>},
    {"MiMoV2FlashModel", "mimo_v2_flash", trunk_of<mimo_v2_flash>},
    {"MiniCPM3Model", "minicpm3", trunk_of<minicpm3>},
    {"Mistral4Model", "mistral4", trunk_of<mistral4>},
    {"YoutuModel", "youtu", trunk_of<youtu>},
    {"MiniMaxModel", "minimax", trunk_of<minimax>},
    {"MiniMaxM2Model", "minimax_m2", trunk_of<minimax_m2>},
    {"MixtralModel", "mixtral", trunk_of<mixtral>},
    {"NemotronHModel", "nemotron_h", trunk_of<nemotron_h>},
    {"OlmoeModel", "olmoe", trunk_of<olmoe>},
    {"PhimoeModel", "phimoe", trunk_of<phimoe>},
    {"Qwen3NextModel", "qwen3_next", trunk_of<qwen3_next>},
    {"Qwen3_5TextModel", "qwen3_5_text", trunk_of<qwen3_5>},
    {"Qwen3_5MoeTextModel", "qwen3_5_moe_text", trunk_of<qwen3_5_moe>},
    {"Qwen2MoeModel", "qwen2_moe", trunk_of<qwen2_moe>},
    {"Qwen3MoeModel", "qwen3_moe", trunk_of<qwen3_moe>},
    {"RecurrentGemmaModel", "recurrent_gemma", trunk_of<recurrent_gemma>},
    {"RwkvModel", "rwkv", trunk_of<rwkv>},
    {"SolarOpenModel", "solar_open", trunk_of<solar_open>},
    {"Dots1Model", "dots1", trunk_of<dots1>},
    {"xLSTMModel", "xlstm", trunk_of<xlstm>},
    {"ZambaModel", "zamba", trunk_of<zamba>},
    {"Zamba2Model", "zamba2", trunk_of<zamba2>},
};

}  // namespace

std::span<const Architecture> sparse_rows() { return rows; }

}  // namespace headroom::model::families
