// GLM-4V-9B and CogAgent: EVA2-CLIP's tower, a convolution and a gated projector below ChatGLM's
// `transformer`. The keys of the text model stand at the top level.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::glm4v_9b {

Part eva2_clip(const Config& v) {
  const std::string k = "EVA2CLIP";
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size patch = v.dim({"patch_size"}, 14);
  const Part layer =
      layer_norm("input_layernorm", width) +
      in("attention", k + "Attention",
         linear("query_key_value", width, 3 * width, Bias::yes) +
             linear("dense", width, width, Bias::yes)) +
      in("mlp", k + "MLP",
         module("activation_fn", activation_class(v, {"hidden_act"}, "gelu")) +
             linear("fc1", width, inner, Bias::yes) + linear("fc2", inner, width, Bias::yes)) +
      layer_norm("post_attention_layernorm", width);
  return in("patch_embedding", k + "PatchEmbedding",
            tensor("cls_embedding", {1, width}, Role::other) +
                convolution("proj", "Conv2d", {width, v.dim({"in_channels"}, 3), patch, patch},
                            Bias::yes) +
                embedding("position_embedding", v.dim({"num_positions"}), width)) +
         in("transformer", k + "Transformer",
            stack("layers", k + "TransformerLayer", v.dim({"num_hidden_layers"}),
                  [&] { return layer; }));
}

/// The text model's keys. ChatGLM's description refuses a config with a tower.
Config without_vision(const Config& c) {
  boost::json::object text = c.object();
  text.erase("vision_config");
  return Config(std::move(text), c.origin());
}

/// Source: vLLM 0.33, glm4v.py.
Part glm4v(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"ffn_hidden_size"});
  const Config v = c.section("vision_config");
  Part tower = tensor("boi", {1, 1, hidden}, Role::other) +
               tensor("eoi", {1, 1, hidden}, Role::other) + eva2_clip(v) +
               in("linear_proj", "EVA2CLIPGLU",
                  linear("linear_proj", hidden, hidden) + layer_norm("norm1", hidden) +
                      module("act1", "GELU") + linear("dense_h_to_4h", hidden, inner) +
                      linear("gate_proj", hidden, inner) + linear("dense_4h_to_h", inner, hidden)) +
               convolution("conv", "Conv2d", {hidden, v.dim({"hidden_size"}), 2, 2}, Bias::yes);
  return with_unsplittable(whole_model(without_vision(c)) +
                               at("transformer", in("vision", "EVA2CLIPModel", std::move(tower))),
                           {"EVA2CLIPTransformerLayer"});
}

}  // namespace headroom::model::families::glm4v_9b
