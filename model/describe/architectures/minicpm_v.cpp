// MiniCPM-V 4.6 and 4.7 and MiniCPM-OCR: a SigLIP tower, a merger, and Qwen3.5. Inside the tower,
// attention merges windows of patches.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/tower_layers.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::minicpm_v {

Part tower(const Config& v, const std::string& k) {
  const TowerSizes s = tower_sizes(v, "gelu_pytorch_tanh");
  const auto [rows, columns] = pair_of(v, "window_kernel_size", 2);
  const Size wide = times({s.hidden, rows, columns}), inner = times({s.inner, rows, columns});
  const Size side = pair_of(v, "image_size", 224).first / s.patch;
  return in("embeddings", k + "VisionEmbeddings",
            convolution("patch_embedding", "Conv2d", {s.hidden, s.channels, s.patch, s.patch},
                        Bias::yes) +
                embedding("position_embedding", side * side, s.hidden)) +
         tower_encoder(k + "Vision", s, First::norm) + layer_norm("post_layernorm", s.hidden) +
         in("vit_merger", k + "ViTWindowAttentionMerger",
            tower_attention(k + "VisionAttention", s.hidden) + layer_norm("layer_norm1", s.hidden) +
                layer_norm("pre_norm", wide) + linear("linear_1", wide, inner, Bias::yes) +
                module("act", "GELUTanh") + linear("linear_2", inner, s.hidden, Bias::yes));
}

/// Source: transformers 5.23, models/minicpmv4_6, models/minicpmv4_7, models/minicpm_ocr.
Part minicpm_v(const Config& c) {
  const std::string_view suffix = "ForConditionalGeneration";
  const std::string k = c.class_name().substr(0, c.class_name().size() - suffix.size());
  const bool ocr = k == "MiniCPMOcr";
  const Config text = section_of(c, "text_config", "qwen3_5_text");
  const Config v = section_of(c, "vision_config",
                              ocr                  ? "minicpm_ocr_vision"
                              : k == "MiniCPMV4_7" ? "minicpmv4_7_vision"
                                                   : "minicpmv4_6_vision");
  const Submodel language = text_model(text);
  const Size width = v.dim({"hidden_size"}), times_merged = c.dim({"merger_times"}, 1);
  if (times_merged > most_layers) c.fail("merger_times", "more than are supported");
  Part list;
  for (Size i = 0; i < times_merged; ++i)
    list = std::move(list) +
           in(std::to_string(i), k + "DownsampleMLP",
              layer_norm("pre_norm", 4 * width) +
                  linear("linear_1", 4 * width, 4 * width, Bias::yes) + module("act", "GELU") +
                  linear("linear_2", 4 * width, i + 1 == times_merged ? language.width : width,
                         Bias::yes));
  Part body =
      in("model", k + "Model",
         in("vision_tower", k + "VisionModel", tower(v, k)) + language.as("language_model") +
             in("merger", k + "Merger", in("mlp", "ModuleList", std::move(list))));
  return with_language_head(
      with_unsplittable(std::move(body), {k + "VisionEmbeddings", k + "VisionEncoderLayer",
                                          k + "ViTWindowAttentionMerger", "Qwen3_5VisionBlock"}),
      text, head_is_tied(c, text, ocr, Inherit::no), "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::minicpm_v
