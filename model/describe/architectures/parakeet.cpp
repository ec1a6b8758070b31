// Parakeet's encoder, a FastConformer (arXiv:2305.05084), and Nemotron's encoder of the same kind.
// A CTC head reads it, or the decoders of Canary and of Cohere's transcriber.
#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "model/describe/architectures/audio_towers.hpp"

namespace headroom::model::families {

namespace {

/// Convolutions over time and mel bins. Each convolution after the first is one per channel
/// (depthwise) and one across channels (pointwise).
Part subsampling(const Config& a) {
  const Size channels = a.dim({"subsampling_conv_channels"}, 256);
  const Size kernel = a.dim({"subsampling_conv_kernel_size"}, 3);
  const Size factor = a.dim({"subsampling_factor"}, 8);
  const auto layers = static_cast<Size>(std::log2(static_cast<double>(factor)));
  Size bins = a.dim({"num_mel_bins"}, 80);
  for (Size i = 0; i < layers; ++i) bins /= a.dim({"subsampling_conv_stride"}, 2);
  if (bins < 1)
    a.fail("subsampling_factor", "found " + std::to_string(factor) + ", which leaves no mel bins");
  const Part steps =
      list("layers", 2 + 3 * std::max<Size>(0, layers - 1), [&](const std::string& name, Size i) {
        if (i == 0) return convolution(name, "Conv2d", {channels, 1, kernel, kernel}, Bias::yes);
        if (i % 3 == 1) return module(name, "ReLU");
        if (i % 3 == 2)
          return convolution(name, "Conv2d", {channels, 1, kernel, kernel}, Bias::yes);
        return convolution(name, "Conv2d", {channels, channels, 1, 1}, Bias::yes);
      });
  return in("subsampling", "ParakeetEncoderSubsamplingConv2D",
            steps + linear("linear", channels * bins, a.dim({"hidden_size"}), Bias::yes));
}

/// Nemotron's subsampling for streaming. Its convolutions see only the past.
Part streaming_subsampling(const Config& a) {
  const std::string k = "NemotronAsrStreamingEncoder";
  const Size channels = a.dim({"subsampling_conv_channels"}, 256);
  const Size kernel = a.dim({"subsampling_conv_kernel_size"}, 3);
  const Size stride = a.dim({"subsampling_conv_stride"}, 2);
  const auto layers =
      static_cast<Size>(std::log2(static_cast<double>(a.dim({"subsampling_factor"}, 8))));
  Size bins = a.dim({"num_mel_bins"}, 80);
  for (Size i = 0; i < layers; ++i) bins = (bins + stride - 2) / stride + 1;
  const auto looking_back = [&](std::string_view name) {
    return convolution(name, k + "CausalConv2D", {channels, 1, kernel, kernel}, Bias::yes);
  };
  return in("subsampling", k + "SubsamplingConv2D",
            looking_back("conv_in") +
                list("layers", std::max<Size>(0, layers - 1),
                     [&](const std::string& name, Size) {
                       return in(name, k + "SubsamplingLayer",
                                 looking_back("depthwise_conv") +
                                     convolution("pointwise_conv", "Conv2d",
                                                 {channels, channels, 1, 1}, Bias::yes));
                     }) +
                module("act_fn", "ReLU") +
                linear("linear", channels * bins, a.dim({"hidden_size"}), Bias::yes));
}

enum class Hears : bool { whole, as_it_comes };

Part encoder_block(const Config& a, const std::string& k, Hears hears) {
  const Size width = a.dim({"hidden_size"}), inner = a.dim({"intermediate_size"});
  const Size heads = a.dim({"num_attention_heads"}), dim = width / heads, across = heads * dim;
  const Size kept = times({a.dim({"num_key_value_heads"}, heads), dim});
  const Bias bias = a.bias({"attention_bias"}, true), conv = a.bias({"convolution_bias"}, true);
  const std::string act = activation_class(a, {"hidden_act"}, "silu");
  const auto feed_forward = [&](std::string_view name) {
    return in(name, k + "FeedForward",
              linear("linear1", width, inner, bias) + module("activation", act) +
                  linear("linear2", inner, width, bias));
  };
  return feed_forward("feed_forward1") +
         in("self_attn", k + "Attention",
            tensor("bias_u", {heads, dim}, Role::bias) +
                tensor("bias_v", {heads, dim}, Role::bias) + linear("q_proj", width, across, bias) +
                linear("k_proj", width, kept, bias) + linear("v_proj", width, kept, bias) +
                linear("o_proj", across, width, bias) + linear("relative_k_proj", width, across)) +
         in("conv", k + "ConvolutionModule",
            module("activation", act) +
                convolution("pointwise_conv1", "Conv1d", {2 * width, width, 1}, conv) +
                convolution("depthwise_conv", hears == Hears::whole ? "Conv1d" : k + "CausalConv1d",
                            {width, 1, a.dim({"conv_kernel_size"}, 9)}, conv) +
                (hears == Hears::whole ? batch_norm("norm", "BatchNorm1d", width)
                                       : layer_norm("norm", width)) +
                convolution("pointwise_conv2", "Conv1d", {width, width, 1}, conv)) +
         feed_forward("feed_forward2") + layer_norm("norm_feed_forward1", width) +
         layer_norm("norm_self_att", width) + layer_norm("norm_conv", width) +
         layer_norm("norm_feed_forward2", width) + layer_norm("norm_out", width);
}

Submodel conformer(const Config& a, const std::string& k, Part front, Hears hears) {
  const Size width = a.dim({"hidden_size"});
  return {k,
          unsplittable(std::move(front) +
                           in("encode_positions", k + "RelPositionalEncoding",
                              buffer("inv_freq", {(width + 1) / 2})) +
                           stack("layers", k + "Block", a.dim({"num_hidden_layers"}),
                                 [&] { return encoder_block(a, k, hears); }),
                       {k + "Block"}),
          width};
}

/// The decoder. `positions` are learned, or a fixed table of sines.
Part speech_decoder(const Config& d, const std::string& k, const Part& positions, Part last) {
  const Size hidden = d.dim({"hidden_size"}), inner = d.dim({"intermediate_size"});
  const Size query = d.dim({"num_attention_heads"});
  const Heads heads{query, d.dim({"num_key_value_heads"}, query),
                    d.dim({"head_dim"}, hidden / query)};
  const Bias bias = d.bias({"attention_bias"}, true);
  const std::string act = activation_class(d, {"hidden_act"}, "relu");
  const auto layer = [&] {
    Part crossing = attention(hidden, heads, bias, bias);
    crossing.caches.front().kind = CacheKind::cross_attention;
    return in("self_attn", k + "SelfAttention", attention(hidden, heads, bias, bias)) +
           in("encoder_attn", k + "CrossAttention", std::move(crossing)) +
           in("mlp", k + "DecoderMLP",
              module("activation_fn", act) + linear("fc1", hidden, inner, Bias::yes) +
                  linear("fc2", inner, hidden, Bias::yes)) +
           layer_norm("input_layernorm", hidden) + layer_norm("post_attention_layernorm", hidden) +
           layer_norm("final_layernorm", hidden);
  };
  return unsplittable(
      in("decoder", k + "Decoder",
         embedding("embed_tokens", d.dim({"vocab_size"}), hidden) +
             stack("layers", k + "DecoderLayer", d.dim({"num_hidden_layers"}), layer) +
             layer_norm("norm", hidden) + positions + layer_norm("embedding_layernorm", hidden) +
             std::move(last)),
      {k + "DecoderLayer"});
}

Part transcriber(const Config& c, const std::string& k, const Submodel& encoder, Part decoder,
                 const Config& d, bool is_tied) {
  Part p = in("model", k + "Model", encoder.as("encoder") + std::move(decoder)) +
           output_head("proj_out", d.dim({"hidden_size"}), d.dim({"vocab_size"}), Bias::yes);
  if (!c.flag({"tie_word_embeddings"}, is_tied)) return p;
  return tied(std::move(p), "proj_out.weight", "model.decoder.embed_tokens.weight");
}

}  // namespace

/// Source: transformers 5.23, models/parakeet/{configuration,modeling}_parakeet.py.
Submodel parakeet_encoder(const Config& a) {
  return conformer(a, "ParakeetEncoder", subsampling(a), Hears::whole);
}

/// Source: transformers 5.23, models/nemotron_asr_streaming.
Submodel streaming_encoder(const Config& a) {
  return conformer(a, "NemotronAsrStreamingEncoder", streaming_subsampling(a), Hears::as_it_comes);
}

namespace parakeet {

/// Source: transformers 5.23, models/parakeet/{configuration,modeling}_parakeet.py.
Part parakeet_ctc(const Config& c) {
  const Submodel encoder = parakeet_encoder(section_of(c, "encoder_config", "parakeet_encoder"));
  Part head = convolution("ctc_head", "ParakeetEncoderCTCHead",
                          {c.dim({"vocab_size"}), encoder.width, 1}, Bias::yes);
  head.tensors.front().role = Role::head;
  return encoder.as("encoder") + std::move(head);
}

}  // namespace parakeet

namespace parakeet {

/// Source: transformers 5.23, models/canary/{configuration,modeling}_canary.py.
Part canary(const Config& c) {
  const Config d = section_of(c, "decoder_config", "canary_decoder");
  const Submodel encoder = parakeet_encoder(section_of(c, "encoder_config", "parakeet_encoder"));
  const Part positions =
      in("pos_emb", "CanaryPositionalEmbedding",
         buffer("positional_embedding",
                {d.dim({"max_position_embeddings"}, 1024), d.dim({"hidden_size"})}));
  return transcriber(c, "Canary", encoder, speech_decoder(d, "Canary", positions, {}), d, true);
}

}  // namespace parakeet

namespace parakeet {

/// Source: transformers 5.23, models/cohere_asr/{configuration,modeling}_cohere_asr.py. Missing
/// encoder keys take this class's defaults.
Part cohere_asr(const Config& c) {
  const Config given = c.section_or_empty("encoder_config");
  const Submodel encoder =
      parakeet_encoder(with_class_defaults(given.with_defaults({{"hidden_size", 1280},
                                                                {"num_hidden_layers", 48},
                                                                {"intermediate_size", 5120},
                                                                {"num_mel_bins", 128}}),
                                           "parakeet_encoder"));
  const Size hidden = c.dim({"hidden_size"});
  return transcriber(
      c, "CohereAsr", encoder,
      speech_decoder(c, "CohereAsr",
                     embedding("pos_emb", c.dim({"max_position_embeddings"}, 1024), hidden),
                     linear("proj", encoder.width, hidden, Bias::yes)),
      c, false);
}

}  // namespace parakeet

}  // namespace headroom::model::families
