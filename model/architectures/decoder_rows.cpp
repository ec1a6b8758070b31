// The rows of text decoders, one block per file of this folder.
#include "model/architectures/families.hpp"
#include "model/architectures/rows.hpp"

namespace headroom::model::families {

namespace {

constexpr Architecture rows[] = {
    // dbrx.cpp
    {"DbrxForCausalLM", "dbrx", dbrx},
    // deepseek.cpp
    {"DeepseekV2ForCausalLM", "deepseek_v2", deepseek_v2},
    {"DeepseekV3ForCausalLM", "deepseek_v3", deepseek_v3},
    {"DeepseekV3ForCausalLM", "kimi_k2", deepseek_v3},
    {"DeepseekV32ForCausalLM", "deepseek_v32", deepseek_v32},
    // glm_moe.cpp
    {"Glm4MoeForCausalLM", "glm4_moe", glm4_moe},
    {"Glm4MoeLiteForCausalLM", "glm4_moe_lite", glm4_moe_lite},
    {"GlmMoeDsaForCausalLM", "glm_moe_dsa", glm_moe_dsa},
    // gpt_oss.cpp
    {"GptOssForCausalLM", "gpt_oss", gpt_oss},
    // jamba.cpp
    {"JambaForCausalLM", "jamba", jamba},
    // llama.cpp
    {"LlamaForCausalLM", "llama", llama},
    // mamba.cpp
    {"MambaForCausalLM", "mamba", mamba},
    {"Mamba2ForCausalLM", "mamba2", mamba2},
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
    // rwkv.cpp
    {"RwkvForCausalLM", "rwkv", rwkv},
};

}  // namespace

std::span<const Architecture> decoder_rows() { return rows; }

}  // namespace headroom::model::families
