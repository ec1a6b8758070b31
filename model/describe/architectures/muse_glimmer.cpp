// Muse Glimmer and Muse Spark: gated attention with sliding windows, norms without weights, and a
// custom tower. Spark adds experts in a narrower stream, gated residuals and an audio tower.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families::muse_glimmer {

Part tower(const Config& v, Classes k) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size patch = v.dim({"patch_size"}, 14);
  const std::string act = activation_class(v, {"hidden_act"}, "gelu");
  const Part layer =
      layer_norm("norm1", width) + layer_norm("norm2", width) +
      in("attn", k("VisionAttention"),
         linear("proj", width, width, Bias::yes) + linear("q_proj", width, width, Bias::yes) +
             linear("k_proj", width, width, Bias::yes) +
             linear("v_proj", width, width, Bias::yes)) +
      in("mlp", k("VisionMLP"),
         linear("fc1", width, inner, Bias::yes) + module("act", act) +
             linear("fc2", inner, width, Bias::yes));
  return in("patch_embedder", k("VisionPatchEmbedder"),
            linear("patch_embedding", times({v.dim({"patch_temporal"}, 2), 3, patch, patch}),
                   width) +
                embedding("position_embedding_table",
                          v.dim({"pos_emb_height"}, 32) * v.dim({"pos_emb_width"}, 32), width)) +
         frequencies("rotary_emb", k("VisionRotaryEmbedding"),
                     width / v.dim({"num_attention_heads"}) / 4) +
         layer_norm("ln_pre", width) +
         stack("layers", k("VisionEncoderLayer"), v.dim({"num_hidden_layers"}),
               [&] { return layer; }) +
         layer_norm("ln_post", width);
}

/// Attention of layer `i`. Every fourth layer, counted from the last, attends to the whole context.
Part gated(const Config& c, Classes k, const Common& s, Size i) {
  const Bias bias = c.bias({"attention_bias"}, false);
  const auto types = layer_types(c, s.layers, [&](Size layer) {
    return (s.layers - 1 - layer) % 4 == 0 ? "full_attention" : "sliding_attention";
  });
  return attention(s.hidden, s.heads, bias, bias,
                   window_of(layer_type(c, types, i), c.count({"sliding_window"}, 2048))) +
         linear("gate_proj", s.hidden, s.heads.query * s.heads.dim) +
         module("qk_norm", k("RMSNorm"));
}

/// The content of the text model: a normed embedding, `layer(i)` for each layer, and a last norm.
template <class Layer>
Part decoder_of(const Config& c, Classes k, const Common& s, Layer&& layer) {
  return unsplittable(in("embed_tokens", k("TextNormedEmbedding"),
                         tensor("weight", {c.dim({"vocab_size"}), s.hidden}, Role::embedding) +
                             module("embed_norm", k("RMSNorm"))) +
                          stack("layers", k("TextDecoderLayer"), s.layers, layer) +
                          rms_norm("norm", k("RMSNorm"), s.hidden) +
                          rotary(k("TextRotaryEmbedding"), rotated_if_scaled(c, s.heads.dim)),
                      {k("TextDecoderLayer")});
}

Part glimmer(const Config& c, Classes k) {
  const Common s = common_of(c);
  const auto norm = [&](std::string_view name) {
    return rms_norm(name, k("TextCenteredRMSNorm"), s.hidden);
  };
  return decoder_of(c, k, s, [&](Size i) {
    return in("self_attn", k("TextAttention"), gated(c, k, s, i)) +
           in("mlp", k("TextMLP"), gated_mlp(s.hidden, s.inner, s.act)) + norm("input_layernorm") +
           norm("post_attention_layernorm") + norm("pre_feedforward_layernorm") +
           norm("post_feedforward_layernorm");
  });
}

/// Experts between a projection to `moe_hidden_size` and one back.
Part spark_mixture(const Config& c, Classes k, const Common& s) {
  const Size narrow = c.dim({"moe_hidden_size"}), inner = c.dim({"moe_intermediate_size"});
  const Routing r = routing_of(c, {"num_local_experts"});
  return corrected_router("gate", k("TopkRouter"), s.hidden, r.experts) +
         at("gate", module("scoring_function", "Sigmoid")) +
         linear("pre_expert_proj", s.hidden, narrow) +
         rms_norm("pre_expert_norm", k("TextCenteredRMSNorm"), narrow) +
         fused_experts(k("Experts"), narrow, inner, r, s.act) +
         at("experts", rms_norm("post_expert_norm", k("TextInputScaledRMSNorm"), narrow)) +
         linear("post_expert_proj", narrow, s.hidden);
}

Part spark(const Config& c, Classes k) {
  const Common s = common_of(c);
  const auto types = c.texts({"mlp_layer_types"});
  const Part mixture = in("mlp", k("MoE"), spark_mixture(c, k, s));
  const Part dense = in("mlp", k("TextMLP"), gated_mlp(s.hidden, s.inner, s.act));
  const auto norm = [&](std::string_view name, std::string_view kind) {
    return rms_norm(name, k(kind), s.hidden);
  };
  const auto gate = [&](std::string_view name) {
    return in(name, k("ResidualGate"), tensor("gate", {s.hidden}, Role::other));
  };
  return decoder_of(c, k, s, [&](Size i) {
    const bool sparse = types.empty() || layer_type(c, types, i, "mlp_layer_types") == "sparse";
    return in("self_attn", k("TextAttention"), gated(c, k, s, i) + module("o_norm", k("RMSNorm"))) +
           (sparse ? mixture : dense) + norm("input_layernorm", "TextCenteredRMSNorm") +
           module("post_attention_layernorm", k("RMSNorm")) +
           norm("pre_feedforward_layernorm", "TextCenteredRMSNorm") +
           norm("post_feedforward_layernorm", "TextInputScaledRMSNorm") +
           gate("post_attention_residual_gate") + gate("post_feedforward_residual_gate");
  });
}

/// Each stage joins `patch_sizes` steps of the audio and then convolves over time.
Part spark_audio(const Config& a, Classes k) {
  const auto joins = a.dims({"patch_sizes"}), widths = a.dims({"hidden_sizes"});
  const auto depths = a.dims({"depths"});
  const std::size_t n = widths.size();
  if (n < 1 || n > 64 || joins.size() != n || depths.size() != n)
    a.fail("hidden_sizes", "expected 1 to 64 numbers, and as many in patch_sizes and depths");
  for (const Size depth : depths)
    if (depth > most_layers)
      a.fail("depths", "found " + std::to_string(depth) + ", at most " +
                           std::to_string(most_layers) + " blocks a stage are supported");
  const std::string act = activation_class(a, {"hidden_act"}, "gelu");
  const Size out = a.dim({"out_hidden_size"}), kernel = a.dim({"conv_kernel_size"}, 7);
  const Part stages = stack("layers", k("AudioLayer"), static_cast<Size>(n), [&](Size stage) {
    const auto i = static_cast<std::size_t>(stage);
    const Size width = widths[i], from = i == 0 ? 1 : widths[i - 1];
    const Size inner =
        whole_width(a, "mlp_ratio", static_cast<double>(width) * a.number({"mlp_ratio"}, 4.0));
    Part blocks{.modules = {{"conv_blocks", "ModuleList"}}};
    for (Size block = 0; block < depths[i]; ++block)
      blocks =
          std::move(blocks) +
          at("conv_blocks",
             in(std::to_string(block), k("AudioConvBlock"),
                convolution("conv", k("AudioCausalConv1d"), {width, 1, kernel}, Bias::yes) +
                    rms_norm("norm", k("RMSNorm"), width) +
                    in("mlp", k("AudioMLP"),
                       linear("fc1", width, inner, Bias::yes) +
                           linear("fc2", inner, width, Bias::yes) + module("activation_fn", act))));
    return in("patch_embedder", k("AudioPatchEmbedding"),
              linear("proj", times({from, joins[i]}), width, Bias::yes) +
                  rms_norm("norm", k("RMSNorm"), width)) +
           std::move(blocks);
  });
  return stages + rms_norm("norm", k("RMSNorm"), widths.back()) +
         linear("proj", widths.back(), out, Bias::yes) +
         rms_norm("post_proj_norm", k("RMSNorm"), out);
}

/// Tower, text model, adapter and projection, followed by `rest`, and the head.
Part whole(const Config& c, Classes k, const Config& text, const Config& v, Part decoder, Part rest,
           bool is_tied) {
  const Size between = c.dim({"projector_hidden_size"}, 4096);
  Part body = in("model", k("Model"),
                 in("vision_tower", k("VisionModel"), tower(v, k)) +
                     in("language_model", k("TextModel"), std::move(decoder)) +
                     in("vision_adapter", k("VisionAdapter"),
                        linear("fc1", c.dim({"out_hidden_size"}, 6144), between) +
                            module("act", activation_class(c, {"projector_hidden_act"}, "gelu")) +
                            linear("fc2", between, between)) +
                     linear("vision_projection", between, text.dim({"hidden_size"})) +
                     module("perception_emb_norm", k("RMSNorm")) + std::move(rest));
  return with_language_head(with_unsplittable(std::move(body), {k("VisionEncoderLayer")}), text,
                            is_tied, "model.language_model.embed_tokens.weight");
}

/// Source: transformers 5.23, models/muse_glimmer/modeling_muse_glimmer.py.
Part muse_glimmer(const Config& c) {
  const Classes k{"MuseGlimmer"};
  const Config text = section_of(c, "text_config", "muse_glimmer_text");
  return whole(c, k, text, section_of(c, "vision_config", "muse_glimmer_vision"), glimmer(text, k),
               {}, head_is_tied(c, text, false, Inherit::no));
}

/// The text model alone. Source: vLLM 0.33 muse_glimmer.py.
Part muse_glimmer_text(const Config& c) {
  const Classes k{"MuseGlimmer"};
  return in("model", k("TextModel"), glimmer(c, k)) +
         lm_head("model.embed_tokens.weight", c.dim({"vocab_size"}), c.dim({"hidden_size"}),
                 c.flag({"tie_word_embeddings"}, false));
}

/// The head is never tied. Source: transformers 5.23, models/muse_spark/modeling_muse_spark.py.
Part muse_spark(const Config& c) {
  const Classes k{"MuseSpark"};
  const Config text = section_of(c, "text_config", "muse_spark_text");
  const Config a = section_of(c, "audio_config", "muse_spark_audio");
  return with_unsplittable(
      whole(c, k, text, section_of(c, "vision_config", "muse_spark_vision"), spark(text, k),
            in("audio_tower", k("AudioModel"), spark_audio(a, k)), false),
      {k("AudioLayer")});
}

}  // namespace headroom::model::families::muse_glimmer
