// Gemma 4 with its towers: a vision transformer with rotary positions and a conformer over audio
// frames. Each tower's output is projected into the text model.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families {

namespace {

Part norm(std::string_view name, Size dim) {
  return as_norm(rms_norm(name, "Gemma4RMSNorm", dim), NormKind::rms_raised);
}

/// A linear layer that may clip inputs and outputs. The bounds are buffers.
Part clippable(const Config& c, std::string_view name, Size in_dim, Size out_dim) {
  Part p = linear("linear", in_dim, out_dim);
  if (c.flag({"use_clipped_linears"}, false))
    for (const auto bound : {"input_min", "input_max", "output_min", "output_max"})
      p = std::move(p) + buffer(bound, {}, Element::floating, true);
  return in(name, "Gemma4ClippableLinear", std::move(p));
}

}  // namespace

Submodel gemma4_vision(const Config& v) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size patch = v.dim({"patch_size"}, 16);
  const Heads h{v.dim({"num_attention_heads"}), v.dim({"num_key_value_heads"}),
                v.dim({"head_dim"})};
  const std::string act = activation_class(v, {"hidden_activation"}, "gelu_pytorch_tanh");
  const Part layers =
      stack("layers", "Gemma4VisionEncoderLayer", v.dim({"num_hidden_layers"}), [&] {
        return in("self_attn", "Gemma4VisionAttention",
                  clippable(v, "q_proj", width, h.query * h.dim) +
                      clippable(v, "k_proj", width, h.kv * h.dim) +
                      clippable(v, "v_proj", width, h.kv * h.dim) +
                      clippable(v, "o_proj", h.query * h.dim, width) + norm("q_norm", h.dim) +
                      norm("k_norm", h.dim) + module("v_norm", "Gemma4RMSNorm")) +
               in("mlp", "Gemma4VisionMLP",
                  clippable(v, "gate_proj", width, inner) + clippable(v, "up_proj", width, inner) +
                      clippable(v, "down_proj", inner, width) + module("act_fn", act)) +
               norm("input_layernorm", width) + norm("post_attention_layernorm", width) +
               norm("pre_feedforward_layernorm", width) + norm("post_feedforward_layernorm", width);
      });
  Part p = in("patch_embedder", "Gemma4VisionPatchEmbedder",
              tensor("position_embedding_table",
                     {2, v.dim({"position_embedding_size"}, 10240), width}, Role::embedding) +
                  linear("input_proj", 3 * patch * patch, width)) +
           in("encoder", "Gemma4VisionEncoder",
              frequencies("rotary_emb", "Gemma4VisionRotaryEmbedding", h.dim / 4) + layers) +
           module("pooler", "Gemma4VisionPooler");
  if (v.flag({"standardize"}, false))
    p = buffer("std_bias", {width}, Element::floating, true) +
        buffer("std_scale", {width}, Element::floating, true) + std::move(p);
  return {"Gemma4VisionModel", std::move(p), width};
}

namespace {

Part audio_layer(const Config& a, Size width, const std::string& act) {
  const Size dim = width / a.dim({"num_attention_heads"});
  const auto feed_forward = [&](std::string_view name) {
    return in(name, "Gemma4AudioFeedForward",
              clippable(a, "ffw_layer_1", width, 4 * width) +
                  clippable(a, "ffw_layer_2", 4 * width, width) + norm("pre_layer_norm", width) +
                  norm("post_layer_norm", width) + module("act_fn", act));
  };
  return feed_forward("feed_forward1") + feed_forward("feed_forward2") +
         in("self_attn", "Gemma4AudioAttention",
            tensor("per_dim_scale", {dim}, Role::other) + buffer("softcap", {}) +
                clippable(a, "q_proj", width, width) + clippable(a, "k_proj", width, width) +
                clippable(a, "v_proj", width, width) + clippable(a, "post", width, width) +
                linear("relative_k_proj", width, width)) +
         in("lconv1d", "Gemma4AudioLightConv1d",
            clippable(a, "linear_start", width, 2 * width) +
                clippable(a, "linear_end", width, width) +
                convolution("depthwise_conv1d", "Gemma4AudioCausalConv1d",
                            {width, 1, a.dim({"conv_kernel_size"}, 5)}) +
                norm("pre_layer_norm", width) + norm("conv_norm", width) + module("act_fn", act)) +
         norm("norm_pre_attn", width) + norm("norm_post_attn", width) + norm("norm_out", width);
}

}  // namespace

Submodel gemma4_audio(const Config& a) {
  const Size width = a.dim({"hidden_size"}), out = a.dim({"output_proj_dims"}, 1536);
  auto channels = a.dims({"subsampling_conv_channels"});
  if (channels.empty()) channels = {128, 32};
  if (channels.size() != 2) a.fail("subsampling_conv_channels", "expected two numbers");
  const std::string act = activation_class(a, {"hidden_act"}, "silu");
  const auto subsample = [&](std::string_view name, Size from, Size to) {
    return in(name, "Gemma4AudioSubSampleConvProjectionLayer",
              convolution("conv", "Conv2d", {to, from, 3, 3}) + layer_norm("norm", to, Bias::no) +
                  module("act", "ReLU"));
  };
  Part p = in("subsample_conv_projection", "Gemma4AudioSubSampleConvProjection",
              subsample("layer0", 1, channels[0]) + subsample("layer1", channels[0], channels[1]) +
                  linear("input_proj_linear", channels[0] / 4 * channels[1], width)) +
           in("rel_pos_enc", "Gemma4AudioRelPositionalEncoding",
              buffer("inv_timescales", {1, 1, width / 2})) +
           stack("layers", "Gemma4AudioLayer", a.dim({"num_hidden_layers"}),
                 [&] { return audio_layer(a, width, act); }) +
           linear("output_proj", width, out, Bias::yes);
  return {"Gemma4AudioModel", std::move(p), out};
}

namespace {

Part embedder(std::string_view name, Size from, Size to) {
  return in(name, "Gemma4MultimodalEmbedder",
            linear("embedding_projection", from, to) +
                module("embedding_pre_projection_norm", "Gemma4RMSNorm"));
}

}  // namespace

namespace gemma4_towers {

/// Source: transformers 5.23, models/gemma4/modeling_gemma4.py. A model without vision_config or
/// audio_config, or with null there, has no tower for it.
Part gemma4(const Config& c) {
  const Config text = section_of(c, "text_config", "gemma4_text");
  const Submodel language = text_model(text);
  Part towers, projections;
  const bool sees = c.has("vision_config"), hears = c.has("audio_config");
  if (sees) {
    const Submodel eyes = gemma4_vision(section_of(c, "vision_config", "gemma4_vision"));
    towers = eyes.as("vision_tower");
    projections = embedder("embed_vision", eyes.width, language.width);
  }
  towers = std::move(towers) + language.as("language_model");
  if (hears) {
    const Submodel ears = gemma4_audio(section_of(c, "audio_config", "gemma4_audio"));
    towers = std::move(towers) + ears.as("audio_tower");
    projections = std::move(projections) + embedder("embed_audio", ears.width, language.width);
  }
  return with_language_head(in("model", "Gemma4Model", std::move(towers) + std::move(projections)),
                            text, head_is_tied(c, text, true, Inherit::no),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace gemma4_towers

}  // namespace headroom::model::families
