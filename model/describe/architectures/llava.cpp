// LLaVA and models built like it: a vision tower, a projector and any text model.
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::llava {

constexpr std::string_view embedding_weight = "model.language_model.embed_tokens.weight";

/// linear_1, activation and linear_2.
Part two_layers(Size in_dim, Size out_dim, const std::string& act, Bias bias) {
  return linear("linear_1", in_dim, out_dim, bias) + module("act", act) +
         linear("linear_2", out_dim, out_dim, bias);
}

/// The tower, projector and text model under `model`, and the head.
Part assembled(const Config& text, const Submodel& language, std::string_view name, Part tower,
               Part projector, bool is_tied) {
  return with_language_head(
      in("model", name, std::move(tower) + std::move(projector) + language.as("language_model")),
      text, is_tied, embedding_weight);
}

/// Source: transformers 5.23, models/llava/modeling_llava.py.
Part llava(const Config& c) {
  const Config text = section_of(c, "text_config", "llama");
  const Submodel vision = vision_model(section_of(c, "vision_config", "clip_vision_model"));
  const Submodel language = text_model(text);
  return assembled(text, language, "LlavaModel", vision.as("vision_tower"),
                   in("multi_modal_projector", "LlavaMultiModalProjector",
                      two_layers(vision.width * feature_layers(c), language.width,
                                 activation_class(c, {"projector_hidden_act"}, "gelu"),
                                 c.bias({"multimodal_projector_bias"}, true))),
                   head_is_tied(c, text, false, Inherit::yes));
}

/// LLaVA-NeXT, its video version and LLaVA-OneVision add a learned end-of-row embedding. Source:
/// transformers 5.23, models/llava_next, models/llava_next_video, models/llava_onevision.
Part llava_next(const Config& c) {
  const std::string_view suffix = "ForConditionalGeneration";
  const std::string name = c.class_name().substr(0, c.class_name().size() - suffix.size());
  const bool one = name == "LlavaOnevision";
  const Config text = section_of(c, "text_config", one ? "qwen2" : "llama");
  const Config v =
      section_of(c, "vision_config", one ? "siglip_vision_model" : "clip_vision_model");
  const Submodel vision = vision_model(v), language = text_model(text);
  Part pool;
  if (name == "LlavaNextVideo")
    pool = in("vision_resampler", name + "Pooler", module("pool", "AvgPool2d"));
  Part body =
      in("model", name + "Model",
         tensor("image_newline", {language.width}, Role::other) + vision.as("vision_tower") +
             in("multi_modal_projector", name + "MultiModalProjector",
                two_layers(vision.width * feature_layers(c), language.width,
                           activation_class(c, {"projector_hidden_act"}, "gelu"),
                           c.bias({"multimodal_projector_bias"}, true))) +
             language.as("language_model") + std::move(pool));
  const Inherit inherit = name == "LlavaNext" ? Inherit::no : Inherit::yes;
  return with_language_head(std::move(body), text, head_is_tied(c, text, false, inherit),
                            embedding_weight);
}

/// Source: transformers 5.23, models/gemma3/modeling_gemma3.py.
Part gemma3(const Config& c) {
  const Config text = section_of(c, "text_config", "gemma3_text");
  const Submodel vision = vision_model(section_of(c, "vision_config", "siglip_vision_model"));
  const Submodel language = text_model(text);
  return assembled(
      text, language, "Gemma3Model", vision.as("vision_tower"),
      in("multi_modal_projector", "Gemma3MultiModalProjector",
         tensor("mm_input_projection_weight", {vision.width, language.width}, Role::matmul) +
             as_norm(rms_norm("mm_soft_emb_norm", "Gemma3RMSNorm", vision.width),
                     NormKind::rms_plus_1) +
             module("avg_pool", "AvgPool2d")),
      head_is_tied(c, text, true, Inherit::no));
}

/// The whole's width of projections replaces the tower's.
/// Source: transformers 5.23, models/paligemma/{configuration,modeling}_paligemma.py.
Part paligemma(const Config& c) {
  const Config text = section_of(c, "text_config", "gemma");
  const Submodel vision = vision_model(section_of(c, "vision_config", "siglip_vision_model"));
  const Submodel language = text_model(text);
  Part projector = in("multi_modal_projector", "PaliGemmaMultiModalProjector",
                      linear("linear", vision.width, c.dim({"projection_dim"}, 2048), Bias::yes));
  return with_unsplittable(
      assembled(text, language, "PaliGemmaModel", vision.as("vision_tower"), std::move(projector),
                head_is_tied(c, text, true, Inherit::no)),
      {"PaliGemmaMultiModalProjector"});
}

/// Source: transformers 5.23, models/mistral3/modeling_mistral3.py.
Part mistral3(const Config& c) {
  const Config text = section_of(c, "text_config", "mistral");
  const Submodel vision = vision_model(section_of(c, "vision_config", "pixtral"));
  const Submodel language = text_model(text);
  const Size merge = c.dim({"spatial_merge_size"}, 2);
  return assembled(
      text, language, "Mistral3Model", vision.as("vision_tower"),
      in("multi_modal_projector", "Mistral3MultiModalProjector",
         rms_norm("norm", "Mistral3RMSNorm", vision.width) +
             in("patch_merger", "Mistral3PatchMerger",
                linear("merging_layer", times({vision.width, merge, merge}), vision.width)) +
             two_layers(vision.width * feature_layers(c), language.width,
                        activation_class(c, {"projector_hidden_act"}, "gelu"),
                        c.bias({"multimodal_projector_bias"}, false))),
      head_is_tied(c, text, true, Inherit::no));
}

/// Source: transformers 5.23, models/lighton_ocr/modeling_lighton_ocr.py.
Part lighton_ocr(const Config& c) {
  const Config text = section_of(c, "text_config", "qwen3");
  const Submodel vision = vision_model(section_of(c, "vision_config", "pixtral"));
  const Submodel language = text_model(text);
  const Size merge = c.dim({"spatial_merge_size"}, 2), width = language.width;
  return with_language_head(
      in("model", "LightOnOcrModel",
         vision.as("vision_encoder") +
             in("vision_projection", "LightOnOcrMultiModalProjector",
                rms_norm("norm", "LightOnOcrRMSNorm", vision.width) +
                    in("patch_merger", "LightOnOcrPatchMerger",
                       linear("merging_layer", times({vision.width, merge, merge}), vision.width)) +
                    linear("linear_1", vision.width, width) + module("act", "GELU") +
                    linear("linear_2", width, width)) +
             language.as("language_model")),
      text, head_is_tied(c, text, true, Inherit::no), "model.language_model.embed_tokens.weight");
}

/// Fuyu (adept.ai/blog/fuyu-8b) projects patches directly, without a tower. Published files state
/// the text model's keys at the top level. Source: transformers 5.23, models/fuyu/modeling_fuyu.py.
Part fuyu(const Config& c) {
  const Config text = section_or_self(c, "text_config", "persimmon");
  const Submodel language = text_model(text, text.text({"model_type"}, "persimmon"));
  const Size patch = c.dim({"patch_size"}, 30);
  return with_language_head(
      unsplittable(
          in("model", "FuyuModel",
             language.as("language_model") +
                 linear("vision_embed_tokens", times({patch, patch, c.dim({"num_channels"}, 3)}),
                        language.width, Bias::yes)),
          language.part.no_split),
      text, head_is_tied(c, text, false, Inherit::no), "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::llava
