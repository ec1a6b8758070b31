// Idefics 3 and SmolVLM: a SigLIP-like tower, pixels shuffled into channels, and one linear
// connector.
#include "model/describe/architectures/tower_layers.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families {

/// The tower of Idefics 2, Idefics 3 and SmolVLM. `name` is the prefix of the class names.
Submodel idefics_vision(const Config& v, const std::string& name) {
  const TowerSizes s = tower_sizes(v, "gelu_pytorch_tanh");
  const Part layers = stack("layers", name + "EncoderLayer", s.layers, [&] {
    return tower_attention(name + "VisionAttention", s.hidden) +
           layer_norm("layer_norm1", s.hidden) + tower_mlp("mlp", name + "VisionMLP", s) +
           layer_norm("layer_norm2", s.hidden);
  });
  return {name + "VisionTransformer",
          unsplittable(in("embeddings", name + "VisionEmbeddings",
                          convolution("patch_embedding", "Conv2d",
                                      {s.hidden, s.channels, s.patch, s.patch}, Bias::yes) +
                              embedding("position_embedding", patches(v), s.hidden)) +
                           in("encoder", name + "Encoder", layers) +
                           layer_norm("post_layernorm", s.hidden),
                       {name + "VisionAttention"}),
          s.hidden};
}

namespace idefics3 {

/// Source: transformers 5.23, models/idefics3/modeling_idefics3.py, models/smolvlm.
Part idefics3(const Config& c) {
  const std::string_view suffix = "ForConditionalGeneration";
  const std::string name = c.class_name().substr(0, c.class_name().size() - suffix.size());
  const std::string type = name == "SmolVLM" ? "smolvlm" : "idefics3";
  const Config text = section_of(c, "text_config", "llama");
  const Config v = section_of(c, "vision_config", type + "_vision");
  const Submodel language = text_model(text);
  const Submodel vision = idefics_vision(v, name);
  const Size scale = c.dim({"scale_factor"}, 2);
  Part body = in("model", name + "Model",
                 vision.as("vision_model") +
                     in("connector", name + "Connector",
                        in("modality_projection", name + "SimpleMLP",
                           linear("proj", times({vision.width, scale, scale}), language.width))) +
                     language.as("text_model"));
  return with_language_head(std::move(body), text, head_is_tied(c, text, false, Inherit::no),
                            "model.text_model.embed_tokens.weight");
}

}  // namespace idefics3

}  // namespace headroom::model::families
