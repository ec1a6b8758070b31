// IDEFICS (after Flamingo, arXiv:2204.14198). Gated cross-attention between the layers of the text
// model reads images. CLIP's tower and a resampler encode the images.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/tower_layers.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::idefics {

const std::string k = "Idefics", norm = k + "RMSNorm";

/// A vocabulary, and separate rows for the tokens added in training.
Part decoupled(std::string_view name, std::string_view class_name, Part added, Shape weight,
               Role role) {
  return in(name, k + std::string(class_name),
            tensor("weight", std::move(weight), role) + std::move(added));
}

Part resampler(const Config& c, Size seen) {
  const Size heads = c.dim({"resampler_n_heads"}, 16), dim = c.dim({"resampler_head_dim"}, 96);
  const Size depth = c.dim({"resampler_depth"}, 6), across = heads * dim;
  Part norms;
  if (c.flag({"qk_layer_norms_perceiver"}, false))
    norms = layer_norm("q_layer_norm", dim) + layer_norm("k_layer_norm", dim);
  const Part attention = layer_norm("context_layer_norm", seen) +
                         layer_norm("latents_layer_norm", seen) + std::move(norms) +
                         linear("q_proj", seen, across) + linear("k_proj", seen, across) +
                         linear("v_proj", seen, across) + linear("output_proj", across, seen);
  const Part mlp = layer_norm("ln", seen) + linear("fc", seen, 4 * seen) + module("act", "ReLU") +
                   linear("c_proj", 4 * seen, seen);
  return in("perceiver_resampler", k + "PerceiverResampler",
            tensor("latents", {c.dim({"resampler_n_latents"}, 64), seen}, Role::other) +
                list("blocks", depth,
                     [&](const std::string& name, Size) {
                       return in(
                           name, "ModuleList",
                           in("0", k + "PerceiverAttention", attention) + in("1", k + "MLP", mlp));
                     }) +
                layer_norm("layer_norm", seen));
}

/// Attention over the text, or over `seen` dimensions of images. Keys and values of images are
/// computed for every token and not cached.
Part attention_of(const Config& c, Size query, Size seen, bool head_norm) {
  const Size hidden = c.dim({"hidden_size"}), dim = hidden / query;
  Part p = linear("q_proj", hidden, hidden) + linear("k_proj", seen, hidden) +
           linear("v_proj", seen, hidden) + linear("o_proj", hidden, hidden) +
           rotary(k + "RotaryEmbedding", rotated_if_scaled(c, dim));
  return head_norm ? std::move(p) + rms_norm("q_layer_norm", norm, dim) +
                         rms_norm("k_layer_norm", norm, dim)
                   : p;
}

Part rest(const Config& c, Size hidden) {
  const Size inner = c.dim({"intermediate_size"});
  return in("mlp", k + "MLP",
            linear("gate_proj", hidden, inner) + linear("down_proj", inner, hidden) +
                linear("up_proj", hidden, inner) +
                module("act_fn", activation_class(c, {"hidden_act"}, "silu"))) +
         rms_norm("input_layernorm", norm, hidden) +
         rms_norm("post_attention_layernorm", norm, hidden);
}

Part vision(const Config& v) {
  const TowerSizes s = tower_sizes(v.renamed({{"embed_dim", "hidden_size"}}), "gelu");
  const Size positions = patches(v) + 1;
  return in(
      "vision_model", k + "VisionTransformer",
      in("embeddings", k + "VisionEmbeddings",
         tensor("class_embedding", {s.hidden}, Role::other) +
             convolution("patch_embedding", "Conv2d", {s.hidden, s.channels, s.patch, s.patch}) +
             embedding("position_embedding", positions, s.hidden) + position_ids(positions)) +
          layer_norm("pre_layrnorm", s.hidden) + tower_encoder(k + "Vision", s, First::attention) +
          layer_norm("post_layernorm", s.hidden));
}

/// Source: transformers 5.23, models/idefics/{configuration,modeling}_idefics.py, perceiver.py,
/// vision.py.
Part idefics(const Config& c) {
  const Config v = section_of(c, "vision_config", "idefics_vision");
  const Config p = c.section_or_empty("perceiver_config");
  const Size hidden = c.dim({"hidden_size"}), query = c.dim({"num_attention_heads"});
  const Size vocab = c.dim({"vocab_size"}), more = c.count({"additional_vocab_size"}, 0);
  const Size layers = c.dim({"num_hidden_layers"}), every = c.dim({"cross_layer_interval"}, 1);
  const Size seen = v.dim({"embed_dim"}, 768);
  const bool head_norm = c.flag({"qk_layer_norms"}, false);
  const bool each = c.text({"alpha_type"}, "float") == "vector";  // a gate for each dimension
  const Shape alpha = each ? Shape{1, 1, hidden} : Shape{1};
  if (hidden % query != 0)
    c.fail("num_attention_heads",
           "found " + std::to_string(query) + ", expected a divisor of " + std::to_string(hidden));
  Part body =
      decoupled("embed_tokens", "DecoupledEmbedding",
                more > 0 ? embedding("additional_embedding", more, hidden) : Part{},
                {vocab, hidden}, Role::embedding) +
      vision(v) + (c.flag({"use_resampler"}, false) ? resampler(p, seen) : Part{}) +
      stack("layers", k + "DecoderLayer", layers,
            [&] {
              Part self = attention_of(c, query, hidden, false);
              self.caches = {kv_cache({query, query, hidden / query})};
              return in("self_attn", k + "Attention", std::move(self)) + rest(c, hidden);
            }) +
      stack("gated_cross_attn_layers", k + "GatedCrossAttentionLayer", layers / every,
            [&] {
              return tensor("alpha_cross_attn", alpha, Role::other) +
                     tensor("alpha_dense", alpha, Role::other) +
                     in("cross_attn", k + "Attention", attention_of(c, query, seen, head_norm)) +
                     rest(c, hidden) + module("act_cross_attn", "Tanh") +
                     module("act_dense", "Tanh");
            }) +
      rms_norm("norm", norm, hidden);
  Part all = in("model", k + "Model", std::move(body)) +
             decoupled("lm_head", "DecoupledLinear",
                       more > 0 ? linear("additional_fc", hidden, more) : Part{}, {vocab, hidden},
                       Role::head);
  all = unsplittable(std::move(all), {k + "DecoderLayer", k + "GatedCrossAttentionLayer",
                                      k + "VisionEncoderLayer"});
  if (!c.flag({"tie_word_embeddings"}, false)) return all;
  all = tied(std::move(all), "lm_head.weight", "model.embed_tokens.weight");
  return more > 0 ? tied(std::move(all), "lm_head.additional_fc.weight",
                         "model.embed_tokens.additional_embedding.weight")
                  : all;
}

}  // namespace headroom::model::families::idefics
