// Hunyuan V4: latent attention with sinks and gates, and an indexer in every fourth layer.
// Hyper-connections (arXiv:2409.19606) mix the residual streams. HY4-VL adds a vision tower, whose
// convolutions merge the patches.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"

namespace headroom::model::families::hy_v4 {

Part mixture(const Config& c, Classes k) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"moe_intermediate_size"});
  const Routing r = routing_of(c, {"n_routed_experts"});
  return in("mlp", k("MoE"),
            in("experts", k("Experts"), stacked_experts(hidden, inner, r)) +
                corrected_router("gate", k("TopkRouter"), hidden, r.experts) +
                in("shared_experts", k("MLP"),
                   gated_mlp(hidden, inner * c.count({"n_shared_experts"}, 1),
                             activation_class(c, {"hidden_act"}, "silu"))));
}

Part connection(std::string_view name, Classes k, Size hidden, Size streams) {
  return in(name, k("HyperConnection"),
            tensor("fn", {2 * streams, streams * hidden}, Role::matmul) +
                tensor("base", {2 * streams}, Role::other) + tensor("scale", {2}, Role::other) +
                module("input_norm", k("UnweightedRMSNorm")));
}

/// The content of the text model.
Part text_body(const Config& c, Classes k) {
  const Size hidden = c.dim({"hidden_size"}), streams = c.dim({"hc_mult"}, 4);
  const Latent a = latent_of(c);
  const Part attn =
      picked(latent_attention(hidden, a, k("RMSNorm"), c.bias({"attention_bias"}, false)), c);
  const Part experts = mixture(c, k);
  const auto indexers = c.texts({"indexer_types"});
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&](Size i) {
    const bool own = indexers.empty() ? i == 0 || (i - 1) % 4 == 0
                                      : layer_type(c, indexers, i, "indexer_types") == "full";
    const bool sparse = c.has("mlp_layer_types") ? is_sparse(c, i, 1) : i > 0;
    return decoder_layer(k, hidden,
                         tensor("sinks", {a.heads}, Role::other) + attn +
                             (own ? indexer(c, k("Indexer"), hidden, a.query_rank) : Part{}) +
                             linear("gate_proj", hidden, a.heads * a.value),
                         sparse ? experts : dense_mlp(c, k)) +
           connection("attn_hc", k, hidden, streams) + connection("ffn_hc", k, hidden, streams);
  });
  const Part head =
      in("hc_head", k("HyperHead"),
         tensor("hc_fn", {streams, streams * hidden}, Role::matmul) +
             tensor("hc_base", {streams}, Role::other) + tensor("hc_scale", {1}, Role::other) +
             module("input_norm", k("UnweightedRMSNorm")));
  return with_quirks(embedding("embed_tokens", c.dim({"vocab_size"}), hidden) + layers +
                         rms_norm("norm", k("RMSNorm"), hidden) +
                         rotary(k("RotaryEmbedding"), a.rope) + head,
                     {.router = {.kind = RouterKind::sigmoid}});
}

/// Source: transformers 5.24, models/hy_v4.
Part hy_v4(const Config& c) {
  const Classes k{"HYV4"};
  return unsplittable(in("model", k("Model"), text_body(c, k)) +
                          lm_head("model.embed_tokens.weight", c.dim({"vocab_size"}),
                                  c.dim({"hidden_size"}), c.flag({"tie_word_embeddings"}, false)),
                      {k("DecoderLayer")});
}

Part tower(const Config& v, Classes k) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size patch = v.dim({"patch_size"}, 16), merge = v.dim({"spatial_merge_size"}, 2);
  const Size side = v.dim({"max_image_size"}, 2048) / patch, out = v.dim({"out_hidden_size"});
  const Size heads = v.dim({"num_attention_heads"}), dim = v.dim({"head_dim"}, width / heads);
  const Size across = heads * dim, merged = times({width, merge, merge});
  const std::string act = activation_class(v, {"hidden_act"}, "gelu");
  Part attention;
  for (const auto name : {"q_proj", "k_proj", "v_proj"})
    attention = std::move(attention) + linear(name, width, across, Bias::yes);
  const Part block = layer_norm("layer_norm1", width) +
                     in("self_attn", k("VisionAttention"),
                        std::move(attention) + linear("o_proj", across, width, Bias::yes)) +
                     layer_norm("layer_norm2", width) +
                     in("mlp", k("VisionMLP"),
                        module("activation_fn", act) + linear("fc1", width, inner, Bias::yes) +
                            linear("fc2", inner, width, Bias::yes));
  const auto convolved = [](std::string_view name, Size from, Size to, Size kernel) {
    return convolution(name, "Conv2d", {to, from, kernel, kernel}, Bias::yes);
  };
  return in("embeddings", k("VisionPatchEmbed"),
            convolved("patch_embedding", v.dim({"num_channels"}, 3), width, patch) +
                embedding("position_embedding", side * side + 1, width)) +
         stack("layers", k("VisionBlock"), v.dim({"num_hidden_layers"}), [&] { return block; }) +
         in("patch_merger", k("VisionPatchMerger"),
            tensor("image_newline", {out}, Role::other) +
                convolved("proj_conv", width, merged, merge) + module("proj_act", act) +
                convolved("proj_out", merged, out, 1) +
                rms_norm("before_rms", k("RMSNorm"), width));
}

Part hy_v4_vl_text(const Config& c) {
  const Classes k{"HYV4VL"};
  return unsplittable(text_body(c, k), {k("DecoderLayer"), k("VisionBlock")});
}

/// Source: transformers 5.24, models/hy_v4_vl/{configuration,modeling}_hy_v4_vl.py.
Part hy_v4_vl(const Config& c) {
  const Classes k{"HYV4VL"};
  const Config text = section_of(c, "text_config", "hy_v4_vl_text");
  const Config v = section_of(c, "vision_config", "hy_v4_vl_vision");
  Part body = in("model", k("Model"),
                 in("language_model", k("TextModel"), text_body(text, k)) +
                     in("vision_tower", k("VisionModel"), tower(v, k)));
  return with_language_head(unsplittable(std::move(body), {k("DecoderLayer"), k("VisionBlock")}),
                            text, head_is_tied(c, text, false, Inherit::no),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::hy_v4
