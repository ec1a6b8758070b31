// Vision-language models with custom projectors: Aya, Command A Vision, LFM2-VL, ViP-LLaVA,
// Video-LLaVA and DeepSeek-VL.
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::llava_relatives {

constexpr std::string_view embedding_weight = "model.language_model.embed_tokens.weight";

Part with_head(const Config& c, const Config& text, Part body, bool tied_by_default) {
  return with_language_head(std::move(body), text,
                            head_is_tied(c, text, tied_by_default, Inherit::no), embedding_weight);
}

/// Cohere's projector concatenates patches. A SwiGLU follows, and its gate is half of linear_1.
/// Source: transformers 5.23, models/aya_vision, models/cohere2_vision.
Part cohere_vision(const Config& c) {
  const bool aya = c.class_name().starts_with("Aya");
  const std::string name = aya ? "AyaVision" : "Cohere2Vision";
  const Config text = section_of(c, "text_config", "cohere2");
  const Submodel vision = vision_model(section_of(c, "vision_config", "siglip_vision_model"));
  const Submodel language = text_model(text);
  const Size side = c.dim({"downsample_factor"}, 2), wide = times({vision.width, side, side});
  const Size inner = c.dim({"alignment_intermediate_size"}, aya ? language.width : 36864);
  return with_head(c, text,
                   in("model", name + "Model",
                      vision.as("vision_tower") +
                          in("multi_modal_projector", name + "MultiModalProjector",
                             (aya ? layer_norm("layernorm", wide) : Part{}) +
                                 linear("linear_1", wide, inner, Bias::yes) +
                                 module("act", aya ? "SiLUActivation" : "SiLU") +
                                 linear("linear_2", inner / 2, language.width, Bias::yes)) +
                          language.as("language_model")),
                   true);
}

/// Source: transformers 5.23, models/lfm2_vl/modeling_lfm2_vl.py.
Part lfm2_vl(const Config& c) {
  const Config text = section_of(c, "text_config", "lfm2");
  const Submodel vision = vision_model(section_of(c, "vision_config", "siglip2_vision_model"));
  const Submodel language = text_model(text);
  const Size side = c.dim({"downsample_factor"}, 2), wide = times({vision.width, side, side});
  const Size inner = c.dim({"projector_hidden_size"}, 2560);
  const Bias bias = c.bias({"projector_bias"}, true);
  Part projector =
      c.flag({"projector_use_layernorm"}, true) ? layer_norm("layer_norm", wide) : Part{};
  projector = std::move(projector) + linear("linear_1", wide, inner, bias) +
              module("act", activation_class(c, {"projector_hidden_act"}, "gelu")) +
              linear("linear_2", inner, language.width, bias);
  Part body =
      in("model", "Lfm2VlModel",
         vision.as("vision_tower") +
             in("multi_modal_projector", "Lfm2VlMultiModalProjector", std::move(projector)) +
             language.as("language_model"));
  return with_language_head(std::move(body), text,
                            c.flag({"tie_embedding", "tie_word_embeddings"}, true),
                            embedding_weight);
}

/// Source: transformers 5.23, models/vipllava/modeling_vipllava.py.
Part vipllava(const Config& c) {
  const Config text = section_of(c, "text_config", "llama");
  const Submodel vision = vision_model(section_of(c, "vision_config", "clip_vision_model"));
  const Submodel language = text_model(text);
  const Size wide = vision.width * feature_layers(c, "vision_feature_layer", 5);
  return with_head(
      c, text,
      in("model", "VipLlavaModel",
         vision.as("vision_tower") +
             in("multi_modal_projector", "VipLlavaMultiModalProjector",
                layer_norm("projector_layernorm", wide) +
                    linear("linear_1", wide, language.width, Bias::yes) +
                    module("act", activation_class(c, {"projector_hidden_act"}, "gelu")) +
                    linear("linear_2", language.width, language.width, Bias::yes)) +
             language.as("language_model")),
      false);
}

/// Source: transformers 5.23, models/video_llava/modeling_video_llava.py.
Part video_llava(const Config& c) {
  const Config text = section_of(c, "text_config", "llama");
  const Submodel vision = vision_model(section_of(c, "vision_config", "clip_vision_model"));
  const Submodel language = text_model(text);
  return with_head(
      c, text,
      in("model", "VideoLlavaModel",
         vision.as("video_tower") + vision.as("image_tower") +
             in("multi_modal_projector", "VideoLlavaMultiModalProjector",
                linear("linear_1", vision.width, language.width, Bias::yes) +
                    module("act", activation_class(c, {"projector_hidden_act"}, "gelu")) +
                    linear("linear_2", language.width, language.width, Bias::yes)) +
             language.as("language_model")),
      false);
}

/// Source: transformers 5.23, models/deepseek_vl/modeling_deepseek_vl.py.
Part deepseek_vl(const Config& c) {
  const Config text = section_of(c, "text_config", "llama");
  const Submodel vision = vision_model(section_of(c, "vision_config", "siglip_vision_model"));
  const Submodel language = text_model(text);
  return with_head(c, text,
                   in("model", "DeepseekVLModel",
                      vision.as("vision_model") +
                          in("aligner", "DeepseekVLAligner",
                             linear("linear1", vision.width, language.width, Bias::yes) +
                                 module("activation", "GELU") +
                                 linear("linear2", language.width, language.width, Bias::yes)) +
                          language.as("language_model")),
                   true);
}

/// DeepSeek-VL with SAM's tower in addition to SigLIP's, for images of higher resolution. Source:
/// transformers 5.23, models/deepseek_vl_hybrid/modeling_deepseek_vl_hybrid.py.
Part deepseek_vl_hybrid(const Config& c) {
  const std::string k = "DeepseekVLHybrid";
  const Config text = section_of(c, "text_config", "llama");
  const Config high = section_of(c, "high_res_vision_config", "sam_vision_model");
  const Submodel vision = vision_model(section_of(c, "vision_config", "siglip_vision_model"));
  const Submodel language = text_model(text);
  const Submodel sam =
      sam_vision(high, {"Sam", "SamVisionEncoder", "SamVisionLayer", "SamVisionAttention",
                        "SamPatchEmbeddings", "SamVisionNeck"});
  const Size fine = sam.width, half = language.width / 2;
  const auto norm = [&](std::string_view name) {
    return in(name, k + "LayerNorm",
              tensor("weight", {fine}, Role::norm) + tensor("bias", {fine}, Role::norm));
  };
  return with_head(
      c, text,
      in("model", k + "Model",
         tensor("high_res_vision_alpha", {1}, Role::other) +
             in("high_res_vision_model", "SamVisionModel",
                with_unsplittable(sam.as("vision_encoder"), {"SamVisionLayer"})) +
             in("high_res_vision_neck", "DeepseekVLSamVisionNeck",
                convolution("conv1", "Conv2d", {fine, high.dim({"hidden_size"}), 1, 1}) +
                    norm("layer_norm1") + convolution("conv2", "Conv2d", {fine, fine, 3, 3}) +
                    norm("layer_norm2")) +
             in("high_res_vision_proj", "DeepseekVLSamVisionProj",
                convolution("conv1", "Conv2d", {2 * fine, fine, 3, 3}) +
                    convolution("conv2", "Conv2d", {4 * fine, 2 * fine, 3, 3})) +
             vision.as("vision_model") +
             in("aligner", k + "Aligner",
                linear("vision_proj", vision.width, half, Bias::yes) +
                    linear("high_res_vision_proj", 4 * fine, half, Bias::yes) +
                    module("act", "GELU") +
                    linear("proj", language.width, language.width, Bias::yes)) +
             language.as("language_model")),
      true);
}

}  // namespace headroom::model::families::llava_relatives
