// dots.ocr and dots.vlm: a vision transformer with gated feed-forwards and rotary positions, and
// Qwen2 or DeepSeek-V3. The keys of the text model stand at the top level.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::dots_ocr {

/// Source: vLLM 0.33, dots_ocr.py and transformers_utils/configs/dotsocr.py.
Submodel dots_vision(const Config& v) {
  const std::string k = "Dots";
  const Size width = v.dim({"embed_dim"}, 1536), inner = v.dim({"intermediate_size"}, 4224);
  const Size out = v.dim({"hidden_size"}, 1536), patch = v.dim({"patch_size"}, 14);
  const Size merge = v.dim({"spatial_merge_size"}, 2), wide = times({width, merge, merge});
  const Bias bias = v.bias({"use_bias"}, false);
  const auto norm = [&](std::string_view name) { return rms_norm(name, k + "RMSNorm", width); };
  const Part layer =
      in("attn", k + "VisionAttention",
         linear("qkv", width, 3 * width, bias) + linear("proj", width, width, bias)) +
      norm("norm1") +
      in("mlp", k + "SwiGLUFFN",
         linear("fc1", width, inner, bias) + linear("fc2", inner, width, bias) +
             linear("fc3", width, inner, bias)) +
      norm("norm2");
  Part p =
      in("patch_embed", k + "ViTPreprocessor",
         in("patchifier", k + "PatchEmbed",
            convolution("proj", "Conv2d", {width, v.dim({"num_channels"}, 3), patch, patch},
                        Bias::yes) +
                norm("norm"))) +
      stack("blocks", k + "VisionBlock", v.dim({"num_hidden_layers"}, 42), [&] { return layer; });
  if (v.flag({"post_norm"}, true)) p = std::move(p) + norm("post_trunk_norm");
  p = std::move(p) +
      in("merger", "PatchMerger",
         layer_norm("ln_q", width) + in("mlp", "Sequential",
                                        linear("0", wide, wide, Bias::yes) + module("1", "GELU") +
                                            linear("2", wide, out, Bias::yes)));
  return {k + "VisionTransformer", unsplittable(std::move(p), {k + "VisionBlock"}), out};
}

/// Sources: vLLM 0.33, dots_ocr.py; SGLang 0.5.23, dots_vlm.py.
Part dots_ocr(const Config& c) {
  const std::string_view type = c.class_name().starts_with("DotsVLM") ? "deepseek_v3" : "qwen2";
  const Config text = with_class_defaults(c, type);
  const Submodel language = text_model(text, type);
  Part body = in("model", language.class_name, language.part) +
              dots_vision(c.section_or_empty("vision_config")).as("vision_tower");
  return with_language_head(std::move(body), text, text.flag({"tie_word_embeddings"}, false),
                            "model.embed_tokens.weight");
}

}  // namespace headroom::model::families::dots_ocr
