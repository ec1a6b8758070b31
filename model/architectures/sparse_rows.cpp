// The rows of mixtures of experts, latent attention, hybrids and recurrent models, one block per
// file of this folder.
#include "model/architectures/rows.hpp"
#include "model/architectures/sparse_families.hpp"

namespace headroom::model::families {

namespace {

constexpr Architecture rows[] = {
    // afmoe.cpp
    {"AfmoeForCausalLM", "afmoe", afmoe},
    // aria_text.cpp
    {"AriaTextForCausalLM", "aria_text", aria_text},
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
    // glm_moe.cpp
    {"Glm4MoeForCausalLM", "glm4_moe", glm4_moe},
    {"Glm4MoeLiteForCausalLM", "glm4_moe_lite", glm4_moe_lite},
    {"GlmMoeDsaForCausalLM", "glm_moe_dsa", glm_moe_dsa},
    // gpt_oss.cpp
    {"GptOssForCausalLM", "gpt_oss", gpt_oss},
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
};

}  // namespace

std::span<const Architecture> sparse_rows() { return rows; }

}  // namespace headroom::model::families
