// Step's vision-language models besides Step-3.7: Step3 with a tower of its own, Step3-VL and Step5
// with a Perception Encoder (arXiv:2504.13181). Two convolutions reduce the patches.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families::step_vl {

/// Source: vLLM 0.33 step_vl.py, PerceptionEncoder.
Part perception_encoder(const Config& v) {
  const Size width = v.dim({"width"}, 1536), layers = v.dim({"layers"}, 47);
  const Size patch = v.dim({"patch_size"}, 14), side = v.dim({"image_size"}, 728) / patch;
  const auto inner = whole_width(
      v, "mlp_ratio", static_cast<double>(width) * v.number({"mlp_ratio"}, 8960.0 / 1536) + 1e-6);
  const bool class_token = v.flag({"use_cls_token"}, false);
  const auto optional_norm = [&](std::string_view key) {
    const std::string_view name = key.substr(4);
    return v.flag({key}, true) ? layer_norm(name, width) : module(name, "Identity");
  };
  const auto scale = [&](std::string_view name) {
    if (v.number({"ls_init_value"}, 0.1) == 0) return module(name, "Identity");
    return in(name, "LayerScale", tensor("gamma", {width}, Role::other));
  };
  const auto layer = [&] {
    return in("attn", "VisionAttention",
              tensor("in_proj_weight", {3 * width, width}, Role::matmul) +
                  tensor("in_proj_bias", {3 * width}, Role::bias) +
                  linear("out_proj", width, width, Bias::yes)) +
           scale("ls_1") + scale("ls_2") + layer_norm("ln_1", width) + layer_norm("ln_2", width) +
           in("mlp", "VisionMLP",
              linear("c_fc", width, inner, Bias::yes) +
                  module("act", activation_class(v, {"hidden_act"}, "quick_gelu")) +
                  linear("c_proj", inner, width, Bias::yes));
  };
  Part p;
  if (class_token) p = tensor("class_embedding", {width}, Role::other);
  if (v.flag({"use_abs_posemb"}, true))
    p = std::move(p) + tensor("positional_embedding", {(class_token ? 1 : 0) + side * side, width},
                              Role::embedding);
  return std::move(p) + convolution("conv1", "Conv2d", {width, 3, patch, patch}) +
         optional_norm("use_ln_pre") + optional_norm("use_ln_post") +
         in("transformer", "VisionTransformer",
            stack("resblocks", "PerceptionEncoderBlock", layers, layer)) +
         convolution("vit_downsampler1", "Conv2d", {2 * width, width, 3, 3}, Bias::yes) +
         convolution("vit_downsampler2", "Conv2d", {4 * width, 2 * width, 3, 3}, Bias::yes);
}

/// Step3-VL-10B, whose text model is Qwen3, and Step5. Source: vLLM 0.33 step_vl.py and
/// models/step5/nvidia/vl.py.
Part step_vl(const Config& c) {
  const bool fifth = c.class_name().starts_with("Step5");
  const Config text = section_of(c, "text_config", fifth ? "step5" : "qwen3");
  const Config v = c.section_or_empty("vision_config");
  const Size width = width_of(text);
  Part p = body_without_head(text, "model") +
           in("vision_model", "PerceptionEncoder", perception_encoder(v)) +
           linear("vit_large_projector", 4 * v.dim({"width"}, 1536), width,
                  c.bias({"projector_bias"}, false));
  return with_language_head(with_unsplittable(std::move(p), {"PerceptionEncoderBlock"}), text,
                            head_is_tied(c, text, false, Inherit::yes),
                            "model.embed_tokens.weight");
}

/// Source: vLLM 0.33 step3_vl.py, Step3VisionTransformer; defaults of configs/step3_vl.py.
Part step3_tower(const Config& v) {
  const Size width = v.dim({"hidden_size"}, 1792), inner = v.dim({"intermediate_size"}, 3072);
  const Size patch = v.dim({"patch_size"}, 14), side = v.dim({"image_size"}, 728) / patch;
  const auto layer = [&] {
    return in("self_attn", "Step3VisionAttention",
              linear("qkv_proj", width, 3 * width, Bias::yes) +
                  linear("out_proj", width, width, Bias::yes)) +
           layer_norm("layer_norm1", width) +
           in("mlp", "Step3VisionMLP",
              linear("fc1", width, inner, Bias::yes) +
                  module("act", activation_class(v, {"hidden_act"}, "quick_gelu")) +
                  linear("fc2", inner, width, Bias::yes)) +
           layer_norm("layer_norm2", width);
  };
  return in("embeddings", "Step3VisionEmbeddings",
            tensor("class_embedding", {1, width}, Role::other) +
                convolution("patch_embedding", "Conv2d",
                            {width, v.dim({"num_channels"}, 3), patch, patch}, Bias::yes) +
                embedding("position_embedding", side * side + 1, width)) +
         in("transformer", "Step3VisionEncoder",
            stack("layers", "Step3VisionEncoderLayer", v.dim({"num_hidden_layers"}, 63), layer));
}

/// Source: vLLM 0.33 step3_vl.py.
Part step3_vl(const Config& c) {
  const Config text = section_of(c, "text_config", "step3_text");
  const Config v = c.section_or_empty("vision_config");
  const Size seen = v.dim({"hidden_size"}, 1792), out = v.dim({"output_hidden_size"}, 4096);
  Part p = body_without_head(text, "model") +
           in("vision_model", "Step3VisionTransformer", step3_tower(v)) +
           convolution("vit_downsampler", "Conv2d", {out, seen, 2, 2}, Bias::yes) +
           convolution("vit_downsampler2", "Conv2d", {2 * out, out, 3, 3}, Bias::yes) +
           linear("vit_large_projector", 2 * out, c.dim({"hidden_size"}, width_of(text)),
                  c.bias({"projector_bias"}, true));
  return with_language_head(with_unsplittable(std::move(p), {"Step3VisionEncoderLayer"}), text,
                            head_is_tied(c, text, false, Inherit::no), "model.embed_tokens.weight");
}

}  // namespace headroom::model::families::step_vl
