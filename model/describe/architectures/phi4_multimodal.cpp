// Phi-4-multimodal (arXiv:2503.01743): Phi-3's decoder, with a SigLIP tower and a conformer inside
// it. The adapters of the published checkpoint are not part of the class.
#include <boost/json.hpp>
#include <cmath>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/tower_layers.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::phi4_multimodal {

const std::string k = "Phi4Multimodal";

Part image_embedding(const Config& v, Size hidden) {
  const TowerSizes s = tower_sizes(v, "gelu_pytorch_tanh");
  const Size side = pair_of(v, "image_size", 448).first / s.patch;
  const Part tower = in("embeddings", k + "VisionEmbeddings",
                        convolution("patch_embedding", "Conv2d",
                                    {s.hidden, s.channels, s.patch, s.patch}, Bias::yes) +
                            embedding("position_embedding", side * side, s.hidden)) +
                     tower_encoder(k + "Vision", s, First::norm) +
                     layer_norm("post_layernorm", s.hidden) + pooling_head(k + "Vision", s);
  return in("image_embed", k + "ImageEmbedding",
            tensor("global_img_feature_extensor", {1, 1, s.hidden}, Role::other) +
                tensor("sub_img_feature_extensor", {1, 1, 1, s.hidden}, Role::other) +
                (side % 2 == 0 ? Part{} : module("img_processor_padding", "ReflectionPad2d")) +
                dropout("drop") + in("img_processor", k + "VisionModel", tower) +
                module("image_token_compression", "AvgPool2d") +
                linear("img_projection_up", s.hidden, hidden, Bias::yes) +
                linear("img_projection_down", hidden, hidden, Bias::yes));
}

/// Strided convolutions that halve time and frequency log2(time_reduction) times.
Part subsampling(const Config& a, Size width) {
  const Size channels = a.dim({"nemo_conv_channels"}, 1024);
  const std::string act = activation_class(a, {"nemo_activation"}, "relu");
  const Size halvings =
      static_cast<Size>(std::log2(static_cast<double>(a.dim({"time_reduction"}, 8))));
  Size bins = a.dim({"input_size"}, 80), n = 0;
  const auto next = [&] { return std::to_string(n++); };
  Part conv = convolution(next(), "Conv2d", {channels, 1, 3, 3}, Bias::yes);
  conv = std::move(conv) + module(next(), act);
  for (Size i = 1; i < halvings; ++i) {
    conv = std::move(conv) + convolution(next(), "Conv2d", {channels, 1, 3, 3}, Bias::yes);
    conv = std::move(conv) + convolution(next(), "Conv2d", {channels, channels, 1, 1}, Bias::yes);
    conv = std::move(conv) + module(next(), act);
  }
  for (Size i = 0; i < halvings; ++i) bins = (bins + 1) / 2;
  return in("embed", k + "AudioNemoConvSubsampling",
            module("act_fn", act) + in("conv", "Sequential", std::move(conv)) +
                linear("out", channels * bins, width, Bias::yes));
}

Part audio_tower(const Config& a) {
  const Size width = a.dim({"hidden_size"}), inner = a.dim({"intermediate_size"});
  const Size heads = a.dim({"num_attention_heads"}), out = a.dim({"ext_pw_out_channel"}, 1024);
  const Size inputs = a.dim({"input_size"}, 80);
  const Size separated = width * a.dim({"depthwise_multiplier"}, 1);
  const auto act = [&](std::string_view name, std::string_view key) {
    return module(name, activation_class(a, {key}, "swish"));
  };
  const auto feed_forward = [&](std::string_view name) {
    return in(name, k + "AudioMLP",
              layer_norm("layer_norm", width) + act("act_fn", "activation") +
                  linear("gate_up_proj", width, 2 * inner, Bias::yes) +
                  linear("down_proj", inner, width, Bias::yes) + dropout());
  };
  Part attention;
  for (const auto name : {"q_proj", "k_proj", "v_proj", "o_proj"})
    attention = std::move(attention) + linear(name, width, width / heads * heads, Bias::yes);
  const Part conv =
      layer_norm("layer_norm", width) +
      in("glu", k + "AudioGluPointWiseConv",
         tensor("b1", {1, out, 1}, Role::bias) + tensor("b2", {1, out, 1}, Role::bias) +
             convolution("ext_pw_conv_1d", "Conv1d", {2 * out, width, 1}, Bias::yes) +
             act("glu_act", "conv_glu_type")) +
      in("dw_sep_conv_1d", k + "AudioDepthWiseSeparableConv1d",
         convolution("dw_conv", "Conv1d", {separated, 1, a.dim({"kernel_size"}, 3)}, Bias::yes) +
             convolution("pw_conv", "Conv1d",
                         {a.dim({"depthwise_separable_out_channel"}, 1024), separated, 1},
                         Bias::yes)) +
      act("act", "conv_activation") +
      convolution("ext_pw_conv_1d", "Conv1d", {out, width, 1}, Bias::yes) + dropout();
  const Part layer = feed_forward("feed_forward_in") +
                     in("self_attn", k + "AudioAttention", attention) +
                     in("conv", k + "AudioConvModule", conv) + feed_forward("feed_forward_out") +
                     layer_norm("layer_norm_att", width) + layer_norm("layer_norm", width);
  const Size buckets =
      a.dim({"bias_max_distance"}, 1000) * (a.flag({"bias_symmetric"}, false) ? 1 : 2);
  return in("encoder_embedding", k + "AudioMeanVarianceNormLayer",
            buffer("global_mean", {inputs}, Element::floating, true) +
                buffer("global_invstd", {inputs}, Element::floating, true)) +
         subsampling(a, width) +
         in("relative_attention_bias_layer", k + "AudioRelativeAttentionBias",
            embedding("bias_values", buckets, heads)) +
         stack("encoders", k + "AudioConformerEncoderLayer", a.dim({"num_blocks"}, 24),
               [&] { return layer; });
}

Part audio_embedding(const Config& a, Size hidden) {
  const Size in_dim = a.dim({"hidden_size"}) * a.dim({"downsample_rate"}, 1);
  Part p = dropout("drop") + in("encoder", k + "AudioModel", audio_tower(a));
  for (const std::string suffix : {"speech", "vision_speech"})
    p = std::move(p) + linear("up_proj_for_" + suffix, in_dim, hidden, Bias::yes) +
        linear("down_proj_for_" + suffix, hidden, hidden, Bias::yes);
  return in("audio_embed", k + "AudioEmbedding", std::move(p));
}

Part assembled(const Config& c, const Config& v, const Config& a) {
  const Submodel language = text_model(c, "phi3");
  Part towers = in("embed_tokens_extend", k + "FeatureEmbedding",
                   image_embedding(v, language.width) + audio_embedding(a, language.width));
  Part body =
      renamed(language.part, "Phi3", k) + module("embed_dropout", "Dropout") + std::move(towers);
  return with_language_head(in("model", k + "Model", std::move(body)), c,
                            head_is_tied(c, c, false, Inherit::no), "model.embed_tokens.weight");
}

/// Source: transformers 5.23, models/phi4_multimodal/modeling_phi4_multimodal.py.
Part phi4_multimodal(const Config& c) {
  return assembled(c, section_of(c, "vision_config", "phi4_multimodal_vision"),
                   section_of(c, "audio_config", "phi4_multimodal_audio"));
}

/// The published files, which state no sizes of the image tower and call those of the audio tower
/// otherwise. Their low-rank adapters are left out: engines load them on request. Source: vLLM 0.33
/// phi4mm.py and phi4mm_audio.py.
Part phi4mm(const Config& c) {
  const Config a = c.section_or_empty("audio_processor").section_or_empty("config");
  const Config bias = a.section_or_empty("relative_attention_bias_args");
  const Config convolutions = a.section_or_empty("nemo_conv_settings");
  const Config named =
      a.renamed({{"attention_dim", "hidden_size"},
                 {"attention_heads", "num_attention_heads"},
                 {"linear_units", "intermediate_size"},
                 {"depthwise_seperable_out_channel", "depthwise_separable_out_channel"}})
          .with_defaults({{"bias_max_distance", bias.dim({"t5_bias_max_distance"}, 1000)},
                          {"bias_symmetric", bias.flag({"t5_bias_symmetric"}, false)},
                          {"nemo_conv_channels", convolutions.dim({"conv_channels"}, 1024)}});
  return assembled(c, section_of(c, "vision_config", "phi4_multimodal_vision"),
                   with_class_defaults(named, "phi4_multimodal_audio"));
}

}  // namespace headroom::model::families::phi4_multimodal
