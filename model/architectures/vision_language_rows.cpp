// The rows of vision-language models and vision encoders, one block per file of this folder.
#include "model/architectures/rows.hpp"
#include "model/architectures/vision_language_families.hpp"

namespace headroom::model::families {

namespace {

constexpr Architecture rows[] = {
    // clip.cpp
    {"CLIPModel", "clip", clip},
    {"CLIPVisionModel", "clip_vision_model", clip},
    {"CLIPTextModel", "clip_text_model", clip},
    {"SiglipModel", "siglip", siglip},
    {"SiglipVisionModel", "siglip_vision_model", siglip},
    {"Siglip2Model", "siglip2", siglip},
    {"Siglip2VisionModel", "siglip2_vision_model", siglip},
    // qwen_vl.cpp
    {"Qwen2VLForConditionalGeneration", "qwen2_vl", qwen2_vl},
    {"Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl", qwen2_5_vl},
    {"Qwen3VLForConditionalGeneration", "qwen3_vl", qwen3_vl},
    {"Qwen3VLMoeForConditionalGeneration", "qwen3_vl_moe", qwen3_vl},
    {"Qwen3_5ForConditionalGeneration", "qwen3_5", qwen3_vl},
    {"Qwen3_5MoeForConditionalGeneration", "qwen3_5_moe", qwen3_vl},
    // llava.cpp
    {"LlavaForConditionalGeneration", "llava", llava},
    {"LlavaNextForConditionalGeneration", "llava_next", llava_next},
    {"LlavaNextVideoForConditionalGeneration", "llava_next_video", llava_next},
    {"LlavaOnevisionForConditionalGeneration", "llava_onevision", llava_next},
    {"Gemma3ForConditionalGeneration", "gemma3", gemma3},
    {"PaliGemmaForConditionalGeneration", "paligemma", paligemma},
    {"Mistral3ForConditionalGeneration", "mistral3", mistral3},
    // mllama.cpp
    {"MllamaForConditionalGeneration", "mllama", mllama},
    // llama4.cpp
    {"Llama4ForConditionalGeneration", "llama4", llama4},
    {"Llama4ForCausalLM", "llama4_text", llama4_text},
    // gemma4.cpp, gemma4_towers.cpp
    {"Gemma4ForConditionalGeneration", "gemma4", gemma4},
    {"Gemma4ForCausalLM", "gemma4_text", gemma4_text},
    // llava_relatives.cpp
    {"AyaVisionForConditionalGeneration", "aya_vision", cohere_vision},
    {"Cohere2VisionForConditionalGeneration", "cohere2_vision", cohere_vision},
    {"Lfm2VlForConditionalGeneration", "lfm2_vl", lfm2_vl},
    {"VipLlavaForConditionalGeneration", "vipllava", vipllava},
    {"VideoLlavaForConditionalGeneration", "video_llava", video_llava},
    {"DeepseekVLForConditionalGeneration", "deepseek_vl", deepseek_vl},
    // internvl.cpp
    {"InternVLForConditionalGeneration", "internvl", internvl},
    // idefics3.cpp
    {"Idefics3ForConditionalGeneration", "idefics3", idefics3},
    {"SmolVLMForConditionalGeneration", "smolvlm", idefics3},
    // glm4v.cpp
    {"Glm4vForConditionalGeneration", "glm4v", glm4v},
    {"Glm46VForConditionalGeneration", "glm46v", glm4v},
    {"Glm4vMoeForConditionalGeneration", "glm4v_moe", glm4v},
    {"GlmOcrForConditionalGeneration", "glm_ocr", glm4v},
};

}  // namespace

std::span<const Architecture> vision_language_rows() { return rows; }

}  // namespace headroom::model::families
