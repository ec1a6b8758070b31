// The rows of text decoders, one block per file of this folder.
#include "model/architectures/families.hpp"
#include "model/architectures/rows.hpp"

namespace headroom::model::families {

namespace {

constexpr Architecture rows[] = {
    // apertus.cpp
    {"ApertusForCausalLM", "apertus", apertus},
    {"ApertusModel", "apertus", apertus_trunk},
    // arcee.cpp
    {"ArceeForCausalLM", "arcee", arcee},
    {"ArceeModel", "arcee", arcee_trunk},
    // biogpt.cpp
    {"BioGptForCausalLM", "biogpt", biogpt},
    {"BioGptModel", "biogpt", biogpt_trunk},
    {"XGLMForCausalLM", "xglm", xglm},
    {"XGLMModel", "xglm", xglm_trunk},
    // bitnet.cpp
    {"BitNetForCausalLM", "bitnet", bitnet},
    {"BitNetModel", "bitnet", bitnet_trunk},
    // bloom.cpp
    {"BloomForCausalLM", "bloom", bloom},
    {"BloomModel", "bloom", bloom_trunk},
    // cohere.cpp
    {"CohereForCausalLM", "cohere", cohere},
    {"CohereModel", "cohere", cohere_trunk},
    {"Cohere2ForCausalLM", "cohere2", cohere2},
    {"Cohere2Model", "cohere2", cohere2_trunk},
    // cpmant.cpp
    {"CpmAntForCausalLM", "cpmant", cpmant},
    {"CpmAntModel", "cpmant", cpmant_trunk},
    // ctrl.cpp
    {"OpenAIGPTLMHeadModel", "openai-gpt", openai_gpt},
    {"OpenAIGPTModel", "openai-gpt", openai_gpt_trunk},
    {"CTRLLMHeadModel", "ctrl", ctrl},
    {"CTRLModel", "ctrl", ctrl_trunk},
    // cwm.cpp
    {"CwmForCausalLM", "cwm", cwm},
    {"CwmModel", "cwm", cwm_trunk},
    // diffllama.cpp
    {"DiffLlamaForCausalLM", "diffllama", diffllama},
    {"DiffLlamaModel", "diffllama", diffllama_trunk},
    // doge.cpp
    {"DogeForCausalLM", "doge", doge},
    {"DogeModel", "doge", doge_trunk},
    // ernie4_5.cpp
    {"Ernie4_5ForCausalLM", "ernie4_5", ernie4_5},
    {"Ernie4_5Model", "ernie4_5", ernie4_5_trunk},
    // exaone4.cpp
    {"Exaone4ForCausalLM", "exaone4", exaone4},
    {"Exaone4Model", "exaone4", exaone4_trunk},
    // falcon.cpp
    {"FalconForCausalLM", "falcon", falcon},
    {"FalconModel", "falcon", falcon_trunk},
    // gemma.cpp
    {"GemmaForCausalLM", "gemma", gemma},
    {"GemmaModel", "gemma", gemma_trunk},
    {"Gemma2ForCausalLM", "gemma2", gemma2},
    {"Gemma2Model", "gemma2", gemma2_trunk},
    {"Gemma3ForCausalLM", "gemma3_text", gemma3_text},
    {"Gemma3TextModel", "gemma3_text", gemma3_trunk},
    // gemma3n.cpp
    {"Gemma3nForCausalLM", "gemma3n_text", gemma3n_text},
    {"Gemma3nTextModel", "gemma3n_text", gemma3n_trunk},
    {"VaultGemmaForCausalLM", "vaultgemma", vaultgemma},
    {"VaultGemmaModel", "vaultgemma", vaultgemma_trunk},
    // glm.cpp
    {"GlmForCausalLM", "glm", glm},
    {"GlmModel", "glm", glm_trunk},
    {"Glm4ForCausalLM", "glm4", glm4},
    {"Glm4Model", "glm4", glm4_trunk},
    // gpt.cpp
    {"GPT2LMHeadModel", "gpt2", gpt2},
    {"GPT2Model", "gpt2", gpt2_trunk},
    {"GPTBigCodeForCausalLM", "gpt_bigcode", gpt_bigcode},
    {"GPTBigCodeModel", "gpt_bigcode", gpt_bigcode_trunk},
    {"GPTNeoForCausalLM", "gpt_neo", gpt_neo},
    {"GPTNeoModel", "gpt_neo", gpt_neo_trunk},
    {"GPTJForCausalLM", "gptj", gptj},
    {"GPTJModel", "gptj", gptj_trunk},
    {"CodeGenForCausalLM", "codegen", codegen},
    {"CodeGenModel", "codegen", codegen_trunk},
    // gpt_neox.cpp
    {"GPTNeoXForCausalLM", "gpt_neox", gpt_neox},
    {"GPTNeoXModel", "gpt_neox", gpt_neox_trunk},
    {"GPTNeoXJapaneseForCausalLM", "gpt_neox_japanese", gpt_neox_japanese},
    {"GPTNeoXJapaneseModel", "gpt_neox_japanese", gpt_neox_japanese_trunk},
    // granite.cpp
    {"GraniteForCausalLM", "granite", granite},
    {"GraniteModel", "granite", granite_trunk},
    {"GraniteSWAForCausalLM", "granite_swa", granite_swa},
    {"GraniteSWAModel", "granite_swa", granite_swa_trunk},
    // helium.cpp
    {"HeliumForCausalLM", "helium", helium},
    {"HeliumModel", "helium", helium_trunk},
    // hrm_text.cpp
    {"HrmTextForCausalLM", "hrm_text", hrm_text},
    {"HrmTextModel", "hrm_text", hrm_text_trunk},
    // hunyuan.cpp
    {"HunYuanDenseV1ForCausalLM", "hunyuan_v1_dense", hunyuan_dense},
    {"HunYuanDenseV1Model", "hunyuan_v1_dense", hunyuan_dense_trunk},
    // hyperclovax.cpp
    {"HyperCLOVAXForCausalLM", "hyperclovax", hyperclovax},
    {"HyperCLOVAXModel", "hyperclovax", hyperclovax_trunk},
    // jais2.cpp
    {"Jais2ForCausalLM", "jais2", jais2},
    {"Jais2Model", "jais2", jais2_trunk},
    // llama.cpp
    {"LlamaForCausalLM", "llama", llama},
    {"InternLM3ForCausalLM", "internlm3", llama},
    {"LlamaForCausalLM", "internlm3", llama},
    {"IQuestCoderForCausalLM", "iquestcoder", llama},
    {"LlamaForCausalLM", "iquestcoder", llama},
    {"Emu3ForCausalLM", "emu3_text_model", emu3},
    {"LlamaModel", "llama", llama_trunk},
    // mistral.cpp
    {"MistralForCausalLM", "mistral", mistral},
    {"MistralModel", "mistral", mistral_trunk},
    {"MinistralForCausalLM", "ministral", ministral},
    {"MinistralModel", "ministral", ministral_trunk},
    {"Ministral3ForCausalLM", "ministral3", ministral3},
    {"Ministral3Model", "ministral3", ministral3_trunk},
    // moshi.cpp
    {"MoshiForCausalLM", "moshi", moshi},
    {"MoshiModel", "moshi", moshi_trunk},
    // mpt.cpp
    {"MptForCausalLM", "mpt", mpt},
    {"MptModel", "mpt", mpt_trunk},
    // nanochat.cpp
    {"NanoChatForCausalLM", "nanochat", nanochat},
    {"NanoChatModel", "nanochat", nanochat_trunk},
    // nemotron.cpp
    {"NemotronForCausalLM", "nemotron", nemotron},
    {"NemotronModel", "nemotron", nemotron_trunk},
    // olmo.cpp
    {"OlmoForCausalLM", "olmo", olmo},
    {"OlmoModel", "olmo", olmo_trunk},
    {"Olmo2ForCausalLM", "olmo2", olmo2},
    {"Olmo2Model", "olmo2", olmo2_trunk},
    {"Olmo3ForCausalLM", "olmo3", olmo3},
    {"Olmo3Model", "olmo3", olmo3_trunk},
    // opt.cpp
    {"OPTForCausalLM", "opt", opt},
    {"OPTModel", "opt", opt_trunk},
    // persimmon.cpp
    {"PersimmonForCausalLM", "persimmon", persimmon},
    {"PersimmonModel", "persimmon", persimmon_trunk},
    // phi.cpp
    {"PhiForCausalLM", "phi", phi},
    {"PhiModel", "phi", phi_trunk},
    {"Phi3ForCausalLM", "phi3", phi3},
    {"Phi3Model", "phi3", phi3_trunk},
    // qwen.cpp
    {"Qwen2ForCausalLM", "qwen2", qwen2},
    {"Qwen2Model", "qwen2", qwen2_trunk},
    {"Qwen3ForCausalLM", "qwen3", qwen3},
    {"Qwen3Model", "qwen3", qwen3_trunk},
    // seed_oss.cpp
    {"SeedOssForCausalLM", "seed_oss", seed_oss},
    {"SeedOssModel", "seed_oss", seed_oss_trunk},
    // smollm3.cpp
    {"SmolLM3ForCausalLM", "smollm3", smollm3},
    {"SmolLM3Model", "smollm3", smollm3_trunk},
    // stablelm.cpp
    {"StableLmForCausalLM", "stablelm", stablelm},
    {"StableLmModel", "stablelm", stablelm_trunk},
    // starcoder2.cpp
    {"Starcoder2ForCausalLM", "starcoder2", starcoder2},
    {"Starcoder2Model", "starcoder2", starcoder2_trunk},
};

}  // namespace

std::span<const Architecture> decoder_rows() { return rows; }

}  // namespace headroom::model::families
