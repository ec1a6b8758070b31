// The functions behind the rows of vision-language models and vision encoders, one family a file.
//
// Each composes a tower (vision_towers.hpp), a projector and a text model (composition.hpp).
#pragma once

#include "model/config.hpp"
#include "model/part.hpp"

namespace headroom::model::families {

// clip.cpp
Part clip(const Config& c);
Part siglip(const Config& c);

// qwen_vl.cpp
Part qwen2_vl(const Config& c);
Part qwen2_5_vl(const Config& c);
Part qwen3_vl(const Config& c);
Part cosmos3_omni(const Config& c);
Part exaone4_5(const Config& c);
Part hyperclovax_vision(const Config& c);

// llava.cpp
Part llava(const Config& c);
Part llava_next(const Config& c);
Part gemma3(const Config& c);
Part paligemma(const Config& c);
Part mistral3(const Config& c);
Part lighton_ocr(const Config& c);
Part fuyu(const Config& c);

// llava_relatives.cpp
Part cohere_vision(const Config& c);
Part lfm2_vl(const Config& c);
Part vipllava(const Config& c);
Part video_llava(const Config& c);
Part deepseek_vl(const Config& c);
Part deepseek_vl_hybrid(const Config& c);
// internvl.cpp
Part internvl(const Config& c);
Part qianfan_ocr(const Config& c);
// idefics3.cpp
Part idefics3(const Config& c);
// glm4v.cpp
Part glm4v(const Config& c);
// mllama.cpp
Part mllama(const Config& c);
Part mllama_text(const Config& c);
// llama4.cpp
Part llama4(const Config& c);
Part llama4_text(const Config& c);
// aria.cpp
Part aria(const Config& c);
// audio_language.cpp
Part qwen2_audio(const Config& c);
Part voxtral(const Config& c);
Part audio_flamingo(const Config& c);
Part qwen3_asr(const Config& c);
Part moss_transcribe(const Config& c);
// blip.cpp
Part blip(const Config& c);
Part blip2(const Config& c);
// chameleon.cpp
Part chameleon(const Config& c);
// cosmos3_edge.cpp
Part cosmos3_edge(const Config& c);
// cohere_compass.cpp
Part cohere_compass(const Config& c);
Part cohere_compass_text(const Config& c);
// deepseek_ocr2.cpp
Part deepseek_ocr2(const Config& c);
// dots3_note.cpp
Part dots3_note(const Config& c);
Part dots3_note_text(const Config& c);
// embedding_gemma2.cpp
Part embedding_gemma2(const Config& c);
// ernie4_5_vl.cpp
Part ernie4_5_vl(const Config& c);
// florence2.cpp
Part florence2(const Config& c);
// fast_vlm.cpp
Part fast_vlm(const Config& c);
// fun_asr.cpp
Part fun_asr(const Config& c);
// git.cpp
Part git(const Config& c);
// granite4_vision.cpp
Part granite4_vision(const Config& c);
// granite_docling.cpp
Part granite_docling(const Config& c);
// granite_speech.cpp
Part granite_speech(const Config& c);
// hunyuan_vl.cpp
Part hunyuan_vl(const Config& c);
// emu3.cpp
Part emu3_images(const Config& c);
// idefics.cpp
Part idefics(const Config& c);
// idefics2.cpp
Part idefics2(const Config& c);
// inkling.cpp
Part inkling(const Config& c);
Part inkling_text(const Config& c);
Part inkling2_text(const Config& c);
// janus.cpp
Part janus(const Config& c);
// kimi_k25.cpp
Part kimi_k25(const Config& c);
// glm5_next.cpp
Part glm5_next(const Config& c);
// kosmos2.cpp
Part kosmos2(const Config& c);
Part kosmos2_5(const Config& c);
// late_interaction.cpp
Part late_interaction(const Config& c);
Part modernvbert(const Config& c);
// lfm3_vl.cpp
Part lfm3_vl(const Config& c);
// minicpm_v.cpp
Part minicpm_v(const Config& c);
// minimax_m3_vl.cpp
Part minimax_m3_vl(const Config& c);
// mistral_large4.cpp
Part mistral_large4(const Config& c);
// molmo2.cpp
Part molmo2(const Config& c);
// muse.cpp
Part muse_glimmer(const Config& c);
Part muse_spark(const Config& c);
// nemotron_omni.cpp
Part nemotron_omni(const Config& c);
// nemotron_transcribe.cpp
Part nemotron_transcribe(const Config& c);
// ovis2.cpp
Part ovis2(const Config& c);
// paddleocr_vl.cpp
Part paddleocr_vl(const Config& c);
// phi4_multimodal.cpp
Part phi4_multimodal(const Config& c);
// pix2struct.cpp
Part pix2struct(const Config& c);
// pp_formulanet.cpp
Part pp_formulanet(const Config& c);
// qwen4_exp.cpp
Part qwen4_exp(const Config& c);
Part qwen4_exp_text(const Config& c);
// qwen_omni.cpp
Part qwen2_5_omni_thinker(const Config& c);
Part qwen3_omni_thinker(const Config& c);
// qwen_omni_voice.cpp, qwen3_omni_voice.cpp
Part qwen2_5_omni(const Config& c);
Part qwen3_omni(const Config& c);
// sam_tower.cpp
Part got_ocr2(const Config& c);
// speech_language.cpp
Part glm_asr(const Config& c);
Part voxtral_realtime(const Config& c);
// step3p7.cpp
Part step3p7(const Config& c);
// unlimited_ocr.cpp
Part unlimited_ocr(const Config& c);
// vibevoice_asr.cpp
Part vibevoice_asr(const Config& c);
// video_llama3.cpp
Part video_llama3(const Config& c);
// vit.cpp
Part vit(const Config& c);
Part swin(const Config& c);
// gemma3n_towers.cpp
Part gemma3n(const Config& c);
// gemma4.cpp
Part gemma4(const Config& c);
Part gemma4_text(const Config& c);
Part gemma4_unified(const Config& c);

}  // namespace headroom::model::families
