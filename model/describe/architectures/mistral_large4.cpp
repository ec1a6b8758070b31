// Mistral Large 4. An indexer makes the latent attention sparse. Every fourth layer has no
// positions. Layers may share latents. Pixtral's tower reads images.
#include <algorithm>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"

namespace headroom::model::families::mistral_large4 {

const Classes k{"MistralLarge4"};

/// Entry `i` of a list with one number for each layer, or `otherwise` without the list.
Size entry(const Config& c, std::string_view key, Size i, Size otherwise) {
  if (!c.has(key)) return otherwise;
  const auto all = c.dims({key});
  if (static_cast<std::size_t>(i) >= all.size())
    c.fail(key, "found " + std::to_string(all.size()) + " entries, expected one for each layer");
  return all[static_cast<std::size_t>(i)];
}

/// A learned scale and offset for the scores of each head.
Part score_scale(Size heads) {
  return in("softmax_scaling", k("TextSoftmaxScaling"),
            tensor("scale", {heads}, Role::other) + tensor("bias", {heads}, Role::other));
}

/// DeepSeek's indexer. It reads the hidden states instead of compressed queries.
Part picker(const Config& c, Size hidden) {
  const Size heads = c.dim({"index_n_heads"}, 32);
  return indexer(c, k("TextIndexer"), hidden, hidden) +
         at("indexer", layer_norm("q_input_norm", hidden) + score_scale(heads));
}

Part attention_of(const Config& c, Size i) {
  const Size hidden = c.dim({"hidden_size"});
  const Bias bias = c.bias({"attention_bias"}, false);
  Latent a = latent_of(c);
  if (entry(c, "no_rope_layers", i, (i + 1) % c.dim({"no_rope_layer_interval"}, 4)) == 0)
    a = {a.heads, 0, a.rank, a.nope + a.rope, 0, a.value};
  Part p;
  if (entry(c, "kv_source_layers", i, i) == i) {
    p = linear("kv_a_proj_with_mqa", hidden, a.rank + a.rope, bias) +
        rms_norm("kv_a_layernorm", k("RMSNorm"), a.rank);
    p.caches = {latent_cache(a)};
    p = picked(std::move(p), c);
  }
  p = std::move(p) + linear("kv_b_proj", a.rank, a.heads * (a.nope + a.value)) +
      linear("o_proj", a.heads * a.value, hidden, bias);
  if (has_indexer(c, i)) p = std::move(p) + picker(c, hidden);
  return std::move(p) + linear("q_proj", hidden, a.heads * (a.nope + a.rope)) +
         score_scale(a.heads);
}

Part text_body(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), rope = c.dim({"qk_rope_head_dim"});
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Classes text{"MistralLarge4Text"};
  const Size experts = c.dim({"n_routed_experts", "num_local_experts"});
  const Part mixture =
      shared_mixture(c, text, text("MoE"), router("gate", text("TopkRouter"), hidden, experts));
  const Part dense = in("mlp", text("MLP"), gated_mlp(hidden, c.dim({"intermediate_size"}), act));
  const Size frequencies = (rotated_if_scaled(c, rope) + 1) / 2;
  return embedding("embed_tokens", c.dim({"vocab_size"}), hidden) +
         stack("layers", text("DecoderLayer"), c.dim({"num_hidden_layers"}),
               [&](Size i) {
                 return in("self_attn", text("Attention"), attention_of(c, i)) +
                        (is_sparse(c, i, 1) ? mixture : dense) +
                        rms_norm("input_layernorm", k("RMSNorm"), hidden) +
                        rms_norm("post_attention_layernorm", k("RMSNorm"), hidden);
               }) +
         rms_norm("norm", k("RMSNorm"), hidden) +
         in("rotary_emb", text("RotaryEmbedding"),
            in_fp32(tensor("alpha", {frequencies}, Role::other)) +
                buffer("inv_freq", {frequencies}) + buffer("original_inv_freq", {frequencies}));
}

/// Source: transformers 5.24, models/mistral_large4/{configuration,modeling}_mistral_large4.py.
Part mistral_large4(const Config& c) {
  const Config text = with_routed_experts(section_of(c, "text_config", "mistral_large4_text"));
  const Submodel vision = vision_model(section_of(c, "vision_config", "pixtral"));
  const Size width = text.dim({"hidden_size"}), merge = c.dim({"spatial_merge_size"}, 2);
  const Bias bias = c.bias({"multimodal_projector_bias"}, false);
  return with_unsplittable(
      with_language_head(
          in("model", k("Model"),
             vision.as("vision_tower") +
                 in("multi_modal_projector", k("MultiModalProjector"),
                    rms_norm("norm", k("RMSNorm"), vision.width) +
                        in("patch_merger", k("PatchMerger"),
                           linear("merging_layer", times({vision.width, merge, merge}),
                                  vision.width)) +
                        linear("linear_1", vision.width * feature_layers(c), width, bias) +
                        module("act", activation_class(c, {"projector_hidden_act"}, "gelu")) +
                        linear("linear_2", width, width, bias)) +
                 in("language_model", k("TextModel"), text_body(text))),
          text, head_is_tied(c, text, false, Inherit::no),
          "model.language_model.embed_tokens.weight"),
      {k("TextDecoderLayer")});
}

}  // namespace headroom::model::families::mistral_large4
