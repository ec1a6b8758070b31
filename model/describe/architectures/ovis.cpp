// Ovis 1.6 to 2.6 (arXiv:2405.20797): the output of a tower selects rows of a table of visual
// words. The text model is any other.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/tower_layers.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::ovis {

/// AIMv2 (arXiv:2411.14402) with the names of its own checkpoints. Source: vLLM 0.33 aimv2.py.
Submodel aimv2(const Config& v) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size patch = v.dim({"patch_size"}, 14);
  const Bias qkv = v.bias({"qkv_bias"}, false), bias = v.bias({"use_bias", "mlp_bias"}, false);
  const auto norm = [&](std::string_view name) { return rms_norm(name, "RMSNorm", width); };
  const auto layer = [&] {
    return in("attn", "AIMv2Attention",
              linear("qkv", width, 3 * width, qkv) + linear("proj", width, width, bias)) +
           norm("norm_1") +
           in("mlp", "AIMv2SwiGLUFFN",
              linear("fc1", width, inner, bias) + linear("fc2", inner, width, bias) +
                  linear("fc3", width, inner, bias) + module("act", "SiLUActivation")) +
           norm("norm_2");
  };
  Part p = in("preprocessor", "AIMv2ViTPreprocessor",
              tensor("pos_embed", {1, patches(v), width}, Role::embedding) +
                  in("patchifier", "AIMv2PatchEmbed",
                     convolution("proj", "Conv2d",
                                 {width, v.dim({"num_channels"}, 3), patch, patch}, Bias::yes) +
                         norm("norm"))) +
           in("trunk", "AIMv2Transformer",
              stack("blocks", "AIMv2Block", v.dim({"num_hidden_layers"}), layer) +
                  norm("post_trunk_norm"));
  return {"AIMv2Model", unsplittable(std::move(p), {"AIMv2Block"}), width};
}

/// The table of visual words and the head that selects from it. `indicators` words are no output.
Part visual_words(Submodel tower, std::string_view name, Size stride, Size words, Size indicators,
                  Size width) {
  const Size seen = times({tower.width, stride, stride}), selected = words - indicators;
  return in("visual_tokenizer", "VisualTokenizer",
            tower.as(name) +
                in("head", "Sequential", linear("0", seen, selected) + layer_norm("1", selected))) +
         in("vte", "VisualEmbedding", tensor("weight", {words, width}, Role::matmul));
}

Size words_of(const Config& c, std::string_view key, Size indicators, Size fallback) {
  const Size words = c.dim({key}, fallback);
  if (words <= indicators) c.fail(key, "expected more than the indicator tokens");
  return words;
}

/// Source: vLLM 0.33 ovis.py and transformers_utils/configs/ovis.py.
Part ovis(const Config& c) {
  const Config text = section_of(c, c.has("text_config") ? "text_config" : "llm_config", "qwen2");
  const Config tokenizer = c.section_or_empty("visual_tokenizer_config");
  const Config v = tokenizer.section_or_empty("backbone_config");
  const std::string type = v.text({"model_type"}, "aimv2");
  if (!type.starts_with("aimv2") && type != "siglip_vision_model")
    v.fail("model_type", "found '" + type + "', expected aimv2 or siglip_vision_model");
  Submodel tower = type.starts_with("aimv2") ? aimv2(with_class_defaults(v, "aimv2_vision_model"))
                                             : siglip_vision(with_class_defaults(v, type));
  if (type == "siglip_vision_model")
    tower = {"SiglipVisionModel", tower.as("vision_model"), tower.width};
  constexpr Size indicators = 5;
  return whole_model(text, "llm") +
         visual_words(std::move(tower), "backbone", tokenizer.dim({"hidden_stride"}, 1),
                      words_of(tokenizer, "vocab_size", indicators, 16384), indicators,
                      c.dim({"hidden_size"}, width_of(text)));
}

/// SigLIP 2 for images of any shape. Learned positions are kept where `preserve_original_pe` says.
Submodel siglip2_navit(const Config& v) {
  const TowerSizes s = tower_sizes(v, "gelu_pytorch_tanh");
  const auto fixed = static_cast<Size>(v.number({"num_patches"}, -1));  // -1: any number
  Part embeddings = fixed > 0 ? linear("patch_embedding", times({s.channels, s.patch, s.patch}),
                                       s.hidden, Bias::yes)
                              : convolution("patch_embedding", "Conv2d",
                                            {s.hidden, s.channels, s.patch, s.patch}, Bias::yes);
  if (v.flag({"preserve_original_pe"}, false)) {
    const Size side = v.dim({"image_size"}, 512) / s.patch;
    embeddings = std::move(embeddings) +
                 embedding("position_embedding", fixed > 0 ? fixed : side * side, s.hidden);
  }
  Part p = in("embeddings", "Siglip2VisionEmbeddings", std::move(embeddings)) +
           tower_encoder("Siglip2", s, First::norm) + layer_norm("post_layernorm", s.hidden);
  return {"Siglip2NavitModel", in("vision_model", "Siglip2VisionTransformer", std::move(p)),
          s.hidden};
}

/// Ovis 2.5 and 2.6. Source: vLLM 0.33 ovis2_5.py and siglip2navit.py.
Part ovis2_5(const Config& c) {
  const Config text = section_of(c, c.has("text_config") ? "text_config" : "llm_config", "qwen3");
  const Config v = c.section_or_empty("vit_config");
  constexpr Size indicators = 4;
  return with_unsplittable(
      whole_model(text, "llm") + visual_words(siglip2_navit(v), "vit", v.dim({"hidden_stride"}, 2),
                                              words_of(c, "visual_vocab_size", indicators, 65536),
                                              indicators, c.dim({"hidden_size"}, width_of(text))),
      {"Siglip2EncoderLayer"});
}

}  // namespace headroom::model::families::ovis
