// llama.cpp's architectures, with the transformers class that describes the same tensors.
//
// Source: llama.cpp, conversion/*.py and src/models/*.cpp (2026), checked with files that its own
// converter wrote (tests/oracle/gguf_test.cpp).
#include "model/checkpoint/gguf/adaptations.hpp"

namespace headroom::model {
namespace {

using namespace gguf;

constexpr GgufArchitecture gguf_architecture_table[] = {
    {"afmoe", "AfmoeForCausalLM", "afmoe", nullptr, nullptr},
    {"apertus", "ApertusForCausalLM", "apertus", nullptr, nullptr},
    {"arcee", "ArceeForCausalLM", "arcee", nullptr, nullptr},
    {"bert", "BertModel", "bert", nullptr, bert, "pooler"},
    {"bloom", "BloomForCausalLM", "bloom", nullptr, nullptr},
    {"chatglm", "GlmForCausalLM", "glm", nullptr, nullptr},
    {"cohere2moe", "Cohere2MoeForCausalLM", "cohere2_moe", nullptr, cohere2_moe},
    {"cohere2", "Cohere2ForCausalLM", "cohere2", nullptr, nullptr},
    {"command-r", "CohereForCausalLM", "cohere", nullptr, nullptr},
    {"dbrx", "DbrxForCausalLM", "dbrx", nullptr, dbrx},
    {"deepseek2", "DeepseekV3ForCausalLM", "deepseek_v3", corrects_routing, deepseek},
    {"deepseek2", "DeepseekV2ForCausalLM", "deepseek_v2", nullptr, deepseek},
    {"deepseek32", "DeepseekV32ForCausalLM", "deepseek_v32", nullptr, sparse_latent},
    {"dots1", "Dots1ForCausalLM", "dots1", nullptr, nullptr},
    {"ernie4_5", "Ernie4_5ForCausalLM", "ernie4_5", nullptr, nullptr},
    {"ernie4_5-moe", "Ernie4_5_MoeForCausalLM", "ernie4_5_moe", nullptr, ernie_moe},
    {"exaone4", "Exaone4ForCausalLM", "exaone4", nullptr, nullptr},
    {"falcon", "FalconForCausalLM", "falcon", nullptr, falcon},
    {"gemma", "GemmaForCausalLM", "gemma", nullptr, nullptr},
    {"gemma2", "Gemma2ForCausalLM", "gemma2", nullptr, nullptr},
    {"gemma3", "Gemma3ForCausalLM", "gemma3_text", nullptr, nullptr},
    {"gemma4", "Gemma4ForCausalLM", "gemma4_text", nullptr, gemma4},
    {"glm-dsa", "GlmMoeDsaForCausalLM", "glm_moe_dsa", nullptr, sparse_latent},
    {"glm4", "Glm4ForCausalLM", "glm4", nullptr, nullptr},
    {"glm4moe", "Glm4MoeForCausalLM", "glm4_moe", nullptr, glm4_moe},
    {"gpt-oss", "GptOssForCausalLM", "gpt_oss", nullptr, experts_of_intermediate_size},
    {"gpt2", "GPT2LMHeadModel", "gpt2", nullptr, nullptr},
    {"gptneox", "GPTNeoXForCausalLM", "gpt_neox", nullptr, gpt_neox},
    {"granite", "GraniteForCausalLM", "granite", nullptr, nullptr},
    {"granite_swa", "GraniteMoeSWAForCausalLM", "granitemoe_swa", has_experts, granite_moe},
    {"granite_swa", "GraniteSWAForCausalLM", "granite_swa", nullptr, nullptr},
    {"granitemoe", "GraniteMoeSharedForCausalLM", "granitemoeshared", has_shared_expert,
     granite_moe},
    {"granitemoe", "GraniteMoeForCausalLM", "granitemoe", nullptr, nullptr},
    {"hunyuan-dense", "HunYuanDenseV1ForCausalLM", "hunyuan_v1_dense", nullptr, nullptr},
    {"jamba", "JambaForCausalLM", "jamba", nullptr, jamba},
    {"lfm2", "Lfm2ForCausalLM", "lfm2", nullptr, lfm2},
    {"lfm2moe", "Lfm2MoeForCausalLM", "lfm2_moe", nullptr, lfm2},
    {"laguna", "LagunaForCausalLM", "laguna", nullptr, laguna},
    {"llama", "MixtralForCausalLM", "mixtral", has_experts, mixtral},
    {"llama", "LlamaForCausalLM", "llama", nullptr, nullptr},
    {"llama4", "Llama4ForCausalLM", "llama4_text", nullptr, llama4},
    {"mamba", "MambaForCausalLM", "mamba", nullptr, mamba},
    {"mamba2", "Mamba2ForCausalLM", "mamba2", nullptr, mamba2},
    {"mellum", "MellumForCausalLM", "mellum", nullptr, nullptr},
    {"minicpm3", "MiniCPM3ForCausalLM", "minicpm3", nullptr, latent},
    {"minimax-m2", "MiniMaxM2ForCausalLM", "minimax_m2", nullptr, experts_of_intermediate_size},
    {"mistral3", "Ministral3ForCausalLM", "ministral3", nullptr, nullptr},
    {"modern-bert", "ModernBertModel", "modernbert", nullptr, nullptr},
    {"mpt", "MptForCausalLM", "mpt", nullptr, nullptr},
    {"nemotron", "NemotronForCausalLM", "nemotron", nullptr, nullptr},
    {"nemotron_h", "NemotronHForCausalLM", "nemotron_h", nullptr, nemotron_h},
    {"nemotron_h_moe", "NemotronHForCausalLM", "nemotron_h", nullptr, nemotron_h},
    {"olmo", "OlmoForCausalLM", "olmo", nullptr, nullptr},
    {"olmo2", "Olmo3ForCausalLM", "olmo3", slides, nullptr},
    {"olmo2", "Olmo2ForCausalLM", "olmo2", nullptr, nullptr},
    {"olmoe", "OlmoeForCausalLM", "olmoe", nullptr, nullptr},
    {"phi2", "PhiForCausalLM", "phi", nullptr, phi2},
    {"phi3", "Phi3ForCausalLM", "phi3", nullptr, nullptr},
    {"phimoe", "PhimoeForCausalLM", "phimoe", nullptr, nullptr},
    {"qwen2", "Qwen2ForCausalLM", "qwen2", nullptr, nullptr},
    {"qwen2moe", "Qwen2MoeForCausalLM", "qwen2_moe", nullptr, qwen2_moe},
    {"qwen2vl", "Qwen2ForCausalLM", "qwen2", nullptr, nullptr},
    {"qwen3", "Qwen3ForCausalLM", "qwen3", nullptr, nullptr},
    {"qwen35", "Qwen3_5ForCausalLM", "qwen3_5_text", nullptr, delta_net},
    {"qwen35moe", "Qwen3_5MoeForCausalLM", "qwen3_5_moe_text", nullptr, delta_net},
    {"qwen3moe", "Qwen3MoeForCausalLM", "qwen3_moe", nullptr, nullptr},
    {"qwen3next", "Qwen3NextForCausalLM", "qwen3_next", nullptr, delta_net},
    {"qwen3vl", "Qwen3ForCausalLM", "qwen3", nullptr, nullptr},
    {"qwen3vlmoe", "Qwen3MoeForCausalLM", "qwen3_moe", nullptr, nullptr},
    {"seed_oss", "SeedOssForCausalLM", "seed_oss", nullptr, nullptr},
    {"smollm3", "SmolLM3ForCausalLM", "smollm3", nullptr, nullptr},
    {"stablelm", "StableLmForCausalLM", "stablelm", nullptr, stablelm},
    {"starcoder", "GPTBigCodeForCausalLM", "gpt_bigcode", nullptr, gpt_bigcode},
    {"starcoder2", "Starcoder2ForCausalLM", "starcoder2", nullptr, starcoder2},
    {"t5", "UMT5ForConditionalGeneration", "umt5", has_own_positions, t5},
    {"t5", "T5ForConditionalGeneration", "t5", nullptr, t5},
};

}  // namespace

std::span<const GgufArchitecture> gguf_architectures() { return gguf_architecture_table; }

}  // namespace headroom::model
