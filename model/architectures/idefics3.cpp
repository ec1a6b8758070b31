// Idefics 3 and SmolVLM: a SigLIP-like tower, pixels shuffled into channels, one linear connector.
#include "model/architectures/vision_language_families.hpp"
#include "model/architectures/vision_towers.hpp"

namespace headroom::model::families {

/// Source: transformers 5.23, models/idefics3/modeling_idefics3.py, models/smolvlm.
Part idefics3(const Config& c) {
  const std::string_view suffix = "ForConditionalGeneration";
  const std::string name = c.class_name().substr(0, c.class_name().size() - suffix.size());
  const std::string type = name == "SmolVLM" ? "smolvlm" : "idefics3";
  const Config text = section_of(c, "text_config", "llama");
  const Config v = section_of(c, "vision_config", type + "_vision");
  const Submodel language = text_model(text);
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size patch = v.dim({"patch_size"}), scale = c.dim({"scale_factor"}, 2);
  const std::string act = activation_class(v, {"hidden_act"}, "gelu_pytorch_tanh");
  const Part layers =
      stack("layers", name + "EncoderLayer", v.dim({"num_hidden_layers"}), [&](Size) {
        return in("self_attn", name + "VisionAttention",
                  linear("k_proj", width, width, Bias::yes) +
                      linear("v_proj", width, width, Bias::yes) +
                      linear("q_proj", width, width, Bias::yes) +
                      linear("out_proj", width, width, Bias::yes)) +
               layer_norm("layer_norm1", width) +
               in("mlp", name + "VisionMLP",
                  module("activation_fn", act) + linear("fc1", width, inner, Bias::yes) +
                      linear("fc2", inner, width, Bias::yes)) +
               layer_norm("layer_norm2", width);
      });
  Part tower = in("embeddings", name + "VisionEmbeddings",
                  convolution("patch_embedding", "Conv2d",
                              {width, v.dim({"num_channels"}, 3), patch, patch}, Bias::yes) +
                      embedding("position_embedding", patches(v), width)) +
               in("encoder", name + "Encoder", layers) + layer_norm("post_layernorm", width);
  Part body = in("model", name + "Model",
                 in("vision_model", name + "VisionTransformer", std::move(tower)) +
                     in("connector", name + "Connector",
                        in("modality_projection", name + "SimpleMLP",
                           linear("proj", width * scale * scale, language.width))) +
                     language.as("text_model"));
  const std::string attention = name + "VisionAttention";
  return with_language_head(with_unsplittable(std::move(body), {attention}), text,
                            head_is_tied(c, text, false, Inherit::no),
                            "model.text_model.embed_tokens.weight");
}

}  // namespace headroom::model::families
