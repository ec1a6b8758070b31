// The rows of vision-language models and vision encoders, one block per file of this folder.
#include "model/architectures/rows.hpp"
#include "model/architectures/vision_language_families.hpp"

namespace headroom::model::families {

namespace {

constexpr std::string_view merges =
    "each of its stages sees a quarter of the patches of the one before";

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
    {"Cosmos3OmniForConditionalGeneration", "cosmos3_omni", cosmos3_omni},
    {"Exaone4_5_ForConditionalGeneration", "exaone4_5", exaone4_5},
    {"HyperCLOVAXVisionV2ForConditionalGeneration", "hyperclovax_vision_v2", hyperclovax_vision},
    // llava.cpp
    {"LlavaForConditionalGeneration", "llava", llava},
    {"LlavaNextForConditionalGeneration", "llava_next", llava_next},
    {"LlavaNextVideoForConditionalGeneration", "llava_next_video", llava_next},
    {"LlavaOnevisionForConditionalGeneration", "llava_onevision", llava_next},
    {"Gemma3ForConditionalGeneration", "gemma3", gemma3},
    {"PaliGemmaForConditionalGeneration", "paligemma", paligemma},
    {"Mistral3ForConditionalGeneration", "mistral3", mistral3},
    {"LightOnOcrForConditionalGeneration", "lighton_ocr", lighton_ocr},
    {"FuyuForCausalLM", "fuyu", fuyu},
    // idefics.cpp
    {"IdeficsForVisionText2Text", "idefics", idefics,
     "its gated layers look at images anew for every token"},
    // emu3.cpp
    {"Emu3ForConditionalGeneration", "emu3", emu3_images},
    // mllama.cpp
    {"MllamaForConditionalGeneration", "mllama", mllama},
    {"MllamaForCausalLM", "mllama_text_model", mllama_text},
    // llama4.cpp
    {"Llama4ForConditionalGeneration", "llama4", llama4},
    {"Llama4ForCausalLM", "llama4_text", llama4_text},
    // gemma3n_towers.cpp
    {"Gemma3nForConditionalGeneration", "gemma3n", gemma3n},
    // gemma4.cpp, gemma4_towers.cpp
    {"Gemma4ForConditionalGeneration", "gemma4", gemma4},
    {"Gemma4ForCausalLM", "gemma4_text", gemma4_text},
    {"Gemma4UnifiedForConditionalGeneration", "gemma4_unified", gemma4_unified},
    {"Gemma4UnifiedForCausalLM", "gemma4_unified_text", gemma4_text},
    // llava_relatives.cpp
    {"AyaVisionForConditionalGeneration", "aya_vision", cohere_vision},
    {"Cohere2VisionForConditionalGeneration", "cohere2_vision", cohere_vision},
    {"Lfm2VlForConditionalGeneration", "lfm2_vl", lfm2_vl},
    {"VipLlavaForConditionalGeneration", "vipllava", vipllava},
    {"VideoLlavaForConditionalGeneration", "video_llava", video_llava},
    {"DeepseekVLForConditionalGeneration", "deepseek_vl", deepseek_vl},
    {"DeepseekVLHybridForConditionalGeneration", "deepseek_vl_hybrid", deepseek_vl_hybrid},
    // internvl.cpp
    {"InternVLForConditionalGeneration", "internvl", internvl},
    {"QianfanOCRForConditionalGeneration", "qianfan_ocr", qianfan_ocr},
    // idefics3.cpp
    {"Idefics3ForConditionalGeneration", "idefics3", idefics3},
    {"SmolVLMForConditionalGeneration", "smolvlm", idefics3},
    // glm4v.cpp
    {"Glm4vForConditionalGeneration", "glm4v", glm4v},
    {"Glm46VForConditionalGeneration", "glm46v", glm4v},
    {"Glm46VForConditionalGeneration", "glmga", glm4v},
    {"Glm4vMoeForConditionalGeneration", "glm4v_moe", glm4v},
    {"GlmOcrForConditionalGeneration", "glm_ocr", glm4v},
    // aria.cpp
    {"AriaForConditionalGeneration", "aria", aria},
    // audio_language.cpp
    {"Qwen2AudioForConditionalGeneration", "qwen2_audio", qwen2_audio},
    {"VoxtralForConditionalGeneration", "voxtral", voxtral},
    {"AudioFlamingo3ForConditionalGeneration", "audioflamingo3", audio_flamingo},
    {"MusicFlamingoForConditionalGeneration", "musicflamingo", audio_flamingo},
    {"Qwen3ASRForConditionalGeneration", "qwen3_asr", qwen3_asr},
    {"MossTranscribeDiarizeForConditionalGeneration", "moss_transcribe_diarize", moss_transcribe},
    // blip.cpp
    {"BlipForConditionalGeneration", "blip", blip},
    {"Blip2ForConditionalGeneration", "blip-2", blip2},
    {"InstructBlipForConditionalGeneration", "instructblip", blip2},
    {"InstructBlipVideoForConditionalGeneration", "instructblipvideo", blip2},
    // chameleon.cpp
    {"ChameleonForConditionalGeneration", "chameleon", chameleon},
    // cosmos3_edge.cpp
    {"Cosmos3EdgeForConditionalGeneration", "cosmos3_edge", cosmos3_edge},
    // cohere_compass.cpp
    {"CohereCompassForConditionalGeneration", "cohere_compass", cohere_compass},
    {"CohereCompassForCausalLM", "cohere_compass_text", cohere_compass_text},
    // deepseek_ocr2.cpp
    {"DeepseekOcr2ForConditionalGeneration", "deepseek_ocr2", deepseek_ocr2},
    // dots3_note.cpp
    {"Dots3NoteForConditionalGeneration", "dots3_note", dots3_note},
    {"Dots3NoteForCausalLM", "dots3_note_text", dots3_note_text},
    // embedding_gemma2.cpp
    {"EmbeddingGemma2Model", "embedding_gemma2", embedding_gemma2},
    {"EmbeddingGemma2TextModel", "embedding_gemma2_text", embedding_gemma2},
    // ernie4_5_vl.cpp
    {"Ernie4_5_VLMoeForConditionalGeneration", "ernie4_5_vl_moe", ernie4_5_vl},
    {"Ernie4_5_VL_MoeForConditionalGeneration", "ernie4_5_vl_moe", ernie4_5_vl},
    // florence2.cpp
    {"Florence2ForConditionalGeneration", "florence2", florence2},
    // fast_vlm.cpp
    {"FastVlmForConditionalGeneration", "fast_vlm", fast_vlm},
    // fun_asr.cpp
    {"FunAsrNanoForConditionalGeneration", "fun_asr_nano", fun_asr},
    // git.cpp
    {"GitForCausalLM", "git", git},
    {"GitModel", "git", git},
    // glm5_next.cpp
    {"Glm5NextForConditionalGeneration", "glm5_next", glm5_next},
    // granite4_vision.cpp
    {"Granite4VisionForConditionalGeneration", "granite4_vision", granite4_vision},
    // granite_docling.cpp
    {"GraniteDoclingForConditionalGeneration", "granite_docling", granite_docling},
    // granite_speech.cpp
    {"GraniteSpeechForConditionalGeneration", "granite_speech", granite_speech},
    {"GraniteSpeechPlusForConditionalGeneration", "granite_speech_plus", granite_speech},
    // hunyuan_vl.cpp
    {"HunYuanVLForConditionalGeneration", "hunyuan_vl", hunyuan_vl},
    // idefics2.cpp
    {"Idefics2ForConditionalGeneration", "idefics2", idefics2},
    // inkling.cpp
    {"InklingForConditionalGeneration", "inkling_mm_model", inkling},
    {"InklingForCausalLM", "inkling_text", inkling_text},
    {"Inkling2ForCausalLM", "inkling2_text", inkling2_text},
    // janus.cpp
    {"JanusForConditionalGeneration", "janus", janus},
    // kimi_k25.cpp
    {"Kimi_K25ForConditionalGeneration", "kimi_k25", kimi_k25},
    // kosmos2.cpp
    {"Kosmos2ForConditionalGeneration", "kosmos-2", kosmos2},
    {"Kosmos2_5ForConditionalGeneration", "kosmos-2.5", kosmos2_5},
    // late_interaction.cpp
    {"ColPaliForRetrieval", "colpali", late_interaction},
    {"ColQwen2ForRetrieval", "colqwen2", late_interaction},
    {"ColModernVBertForRetrieval", "colmodernvbert", late_interaction},
    {"ModernVBertForMaskedLM", "modernvbert", modernvbert},
    {"ModernVBertModel", "modernvbert", modernvbert},
    // lfm3_vl.cpp
    {"Lfm3VlForConditionalGeneration", "lfm3_vl", lfm3_vl},
    // minicpm_v.cpp
    {"MiniCPMV4_6ForConditionalGeneration", "minicpmv4_6", minicpm_v},
    {"MiniCPMV4_7ForConditionalGeneration", "minicpmv4_7", minicpm_v},
    {"MiniCPMOcrForConditionalGeneration", "minicpm_ocr", minicpm_v},
    // minimax_m3_vl.cpp
    {"MiniMaxM3SparseForConditionalGeneration", "minimax_m3_vl", minimax_m3_vl},
    // mistral_large4.cpp
    {"MistralLarge4ForConditionalGeneration", "mistral_large4", mistral_large4},
    // molmo2.cpp
    {"Molmo2ForConditionalGeneration", "molmo2", molmo2},
    // muse.cpp
    {"MuseGlimmerForConditionalGeneration", "muse_glimmer", muse_glimmer},
    {"MuseSparkForConditionalGeneration", "muse_spark", muse_spark},
    // nemotron_omni.cpp
    {"NemotronH_Omni_Reasoning_V3", "nemotron_h_omni", nemotron_omni},
    // nemotron_transcribe.cpp
    {"Nemotron3_5TranscribeForConditionalGeneration", "nemo_speechlm", nemotron_transcribe},
    // ovis2.cpp
    {"Ovis2ForConditionalGeneration", "ovis2", ovis2},
    // paddleocr_vl.cpp
    {"PaddleOCRVLForConditionalGeneration", "paddleocr_vl", paddleocr_vl},
    // phi4_multimodal.cpp
    {"Phi4MultimodalForCausalLM", "phi4_multimodal", phi4_multimodal},
    // pix2struct.cpp
    {"Pix2StructForConditionalGeneration", "pix2struct", pix2struct},
    // pp_formulanet.cpp
    {"PPFormulaNetForConditionalGeneration", "pp_formulanet", pp_formulanet},
    // qwen4_exp.cpp
    {"Qwen4ExpForConditionalGeneration", "qwen4_exp", qwen4_exp},
    {"Qwen4ExpForCausalLM", "qwen4_exp_text", qwen4_exp_text},
    // qwen_omni.cpp
    {"Qwen2_5OmniThinkerForConditionalGeneration", "qwen2_5_omni_thinker", qwen2_5_omni_thinker},
    {"Qwen3OmniMoeThinkerForConditionalGeneration", "qwen3_omni_moe_thinker", qwen3_omni_thinker},
    // qwen_omni_voice.cpp, qwen3_omni_voice.cpp
    {"Qwen2_5OmniForConditionalGeneration", "qwen2_5_omni", qwen2_5_omni},
    {"Qwen3OmniMoeForConditionalGeneration", "qwen3_omni_moe", qwen3_omni},
    // sam_tower.cpp
    {"GotOcr2ForConditionalGeneration", "got_ocr2", got_ocr2},
    {"GotOcr2ForConditionalGeneration", "pp_chart2table", got_ocr2},
    // speech_language.cpp
    {"GlmAsrForConditionalGeneration", "glmasr", glm_asr},
    {"VoxtralRealtimeForConditionalGeneration", "voxtral_realtime", voxtral_realtime},
    // step3p7.cpp
    {"Step3p7ForConditionalGeneration", "step3p7", step3p7},
    // unlimited_ocr.cpp
    {"UnlimitedOcrForConditionalGeneration", "unlimited_ocr", unlimited_ocr},
    // vibevoice_asr.cpp
    {"VibeVoiceAsrForConditionalGeneration", "vibevoice_asr", vibevoice_asr},
    // video_llama3.cpp
    {"VideoLlama3ForConditionalGeneration", "video_llama_3", video_llama3},
    // vit.cpp
    {"ViTModel", "vit", vit},
    {"ViTForImageClassification", "vit", vit},
    {"DeiTModel", "deit", vit},
    {"DeiTForImageClassification", "deit", vit},
    {"DeiTForImageClassificationWithTeacher", "deit", vit},
    {"SwinModel", "swin", swin, merges},
    {"SwinForImageClassification", "swin", swin, merges},
    {"DonutSwinModel", "donut-swin", swin, merges},
    {"DonutSwinForImageClassification", "donut-swin", swin, merges},
};

}  // namespace

std::span<const Architecture> vision_language_rows() { return rows; }

}  // namespace headroom::model::families
