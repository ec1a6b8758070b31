// LLaVA-OneVision 2: a tower with rotary positions in three dimensions and without learned ones, a
// merger of 2 x 2 patches, and Qwen3.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::llava_onevision2 {

/// Source: vLLM 0.33, llava_onevision2.py.
Submodel onevision_tower(const Config& v, Size out) {
  const std::string k = "LlavaOnevision2Vision";
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size patch = v.dim({"patch_size"}), merge = v.dim({"spatial_merge_size"});
  const Size wide = times({width, merge, merge});
  const std::string act = activation_class(v, {"hidden_act"}, "gelu");
  const Part layer =
      layer_norm("layer_norm1", width) + layer_norm("layer_norm2", width) +
      in("self_attn", k + "Attn",
         linear("qkv", width, 3 * width, Bias::yes) + linear("proj", width, width, Bias::yes)) +
      in("mlp", k + "MLP",
         linear("fc1", width, inner, Bias::yes) + module("act", act) +
             linear("fc2", inner, width, Bias::yes));
  Part p =
      in("embeddings", k + "Embeddings",
         convolution("patch_embedding", "Conv2d",
                     {width, v.dim({"num_channels"}, 3), patch, patch})) +
      layer_norm("layernorm_pre", width) +
      in("encoder", k + "Encoder",
         stack("layers", k + "TowerBlock", v.dim({"num_hidden_layers"}), [&] { return layer; })) +
      in("merger", "LlavaOnevision2PatchMerger",
         layer_norm("ln_q", width) + in("mlp", "Sequential",
                                        linear("0", wide, wide, Bias::yes) + module("1", "GELU") +
                                            linear("2", wide, out, Bias::yes)));
  return {k + "Tower", unsplittable(std::move(p), {k + "TowerBlock"}), out};
}

/// Source: vLLM 0.33, llava_onevision2.py.
Part llava_onevision2(const Config& c) {
  const Config text = section_of(c, "text_config", "qwen3");
  const Submodel language = text_model(text);
  return with_language_head(
      in("model", "LlavaOnevision2Model",
         onevision_tower(c.section("vision_config"), language.width).as("visual") +
             language.as("language_model")),
      text, head_is_tied(c, text, false, Inherit::yes), "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::llava_onevision2
