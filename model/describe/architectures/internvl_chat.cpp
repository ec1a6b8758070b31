// InternVL's own chat code and models that follow it: InternViT or SigLIP, a projector over
// shuffled pixels ("mlp1") and a whole text model. H2OVL, Skywork R1V, NVLM-D and Eagle 2.5 differ
// in the projector or the tower.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/config_words.hpp"

namespace headroom::model::families::internvl_chat {

/// Defaults of the tower's config class. Source: SGLang 0.5.23, configs/internvl.py.
Config tower_section(const Config& c) {
  return c.section("vision_config")
      .with_defaults({{"hidden_size", 3200},
                      {"num_attention_heads", 25},
                      {"intermediate_size", 12800},
                      {"num_hidden_layers", 48},
                      {"image_size", 224},
                      {"patch_size", 14},
                      {"qkv_bias", false},
                      {"qk_normalization", true},
                      {"norm_type", "rms_norm"},
                      {"hidden_act", "gelu"}});
}

/// InternViT. Queries, keys and values are one matrix. There is no norm after the layers. `padding`
/// heads more than the config says are in files of NVLM-D. Source: vLLM 0.33, intern_vit.py.
Submodel intern_vit(const Config& v, Size padding = 0) {
  const std::string k = "Intern";
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size heads = v.dim({"num_attention_heads"}), seen = width / heads * (heads + padding);
  const auto [height_patch, width_patch] = pair_of(v, "patch_size", 14);
  const bool rms = word_of(v, {"norm_type"}, "rms_norm", {"layer_norm", "rms_norm"}) == "rms_norm";
  const auto norm = [&](std::string_view name) {
    return rms ? rms_norm(name, k + "RMSNorm", width) : layer_norm(name, width);
  };
  Part attention = linear("qkv", width, 3 * seen, v.bias({"qkv_bias"}, false));
  if (v.flag({"qk_normalization"}, true))
    attention = std::move(attention) + rms_norm("q_norm", k + "RMSNorm", seen) +
                rms_norm("k_norm", k + "RMSNorm", seen);
  attention = std::move(attention) + linear("proj", seen, width, Bias::yes);
  const Part layer =
      tensor("ls1", {width}, Role::other) + tensor("ls2", {width}, Role::other) +
      in("attn", k + "Attention", std::move(attention)) +
      in("mlp", k + "MLP",
         module("act", activation_class(v, {"hidden_act"}, "gelu")) +
             linear("fc1", width, inner, Bias::yes) + linear("fc2", inner, width, Bias::yes)) +
      norm("norm1") + norm("norm2");
  Part p = in("embeddings", k + "VisionEmbeddings",
              tensor("class_embedding", {1, 1, width}, Role::other) +
                  tensor("position_embedding", {1, patches(v) + 1, width}, Role::embedding) +
                  convolution("patch_embedding", "Conv2d",
                              {width, v.dim({"num_channels"}, 3), height_patch, width_patch},
                              Bias::yes)) +
           in("encoder", k + "VisionEncoder",
              stack("layers", k + "VisionEncoderLayer", v.dim({"num_hidden_layers"}),
                    [&] { return layer; }));
  return {k + "VisionModel", unsplittable(std::move(p), {k + "VisionEncoderLayer"}), width};
}

/// A norm, two linear layers and GELU, as the sequence `mlp1`.
struct Projector {
  Size through;  ///< width between the two layers
  Bias bias = Bias::yes;
};

/// Tower, projector and text model with its head.
Part assembled(const Config& c, const Config& text, const Submodel& vision, Projector projector) {
  const double ratio = c.number({"downsample_ratio"}, 0.5);
  if (!(ratio > 0.0 && ratio <= 1.0)) c.fail("downsample_ratio", "expected a number in (0, 1]");
  const Size side = static_cast<Size>(1.0 / ratio), wide = times({vision.width, side, side});
  Part p =
      vision.as("vision_model") + whole_model(text, "language_model") +
      in("mlp1", "Sequential",
         layer_norm("0", wide) + linear("1", wide, projector.through, projector.bias) +
             module("2", "GELU") + linear("3", projector.through, width_of(text), projector.bias));
  return p;
}

/// Older files call the text model's section llm_config.
Config language_of(const Config& c) {
  return section_of(c, c.has("text_config") ? "text_config" : "llm_config", "");
}

/// Sources: vLLM 0.33, internvl.py, h2ovl.py and skyworkr1v.py. Engines leave out layers of the
/// tower after select_layer. The file has them, so they are described.
Part internvl_chat(const Config& c) {
  const Config text = language_of(c);
  return assembled(c, text, intern_vit(tower_section(c)), {.through = width_of(text)});
}

/// Source: vLLM 0.33, nvlm_d.py, which loads 7 heads more than the config says, so that tensor
/// parallelism divides them.
Part nvlm_d(const Config& c) {
  const Config text = language_of(c);
  constexpr Size padding = 7;
  return assembled(c, text, intern_vit(tower_section(c), padding),
                   {.through = text.dim({"intermediate_size"}), .bias = Bias::no});
}

/// Source: vLLM 0.33, eagle2_5_vl.py. The tower is SigLIP's without its pooling head.
Part eagle2_5_vl(const Config& c) {
  const Config text = language_of(c);
  const Config v = section_of(c, "vision_config", "siglip_vision_model")
                       .with_defaults({{"vision_use_head", false}});
  Submodel tower = siglip_vision(v);
  tower.part = in("vision_model", "SiglipVisionTransformer", std::move(tower.part));
  return assembled(c, text, tower, {.through = width_of(text)});
}

}  // namespace headroom::model::families::internvl_chat
