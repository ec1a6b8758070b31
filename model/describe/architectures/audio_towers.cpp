#include "model/describe/architectures/audio_towers.hpp"

#include <boost/json/object.hpp>

#include "model/describe/architectures/seq2seq_layer.hpp"

namespace headroom::model::families {

Part whisper_layers(const Config& a, const std::string& prefix, Bias key_bias) {
  const Seq2SeqSizes s{.hidden = a.dim({"d_model", "hidden_size"}),
                       .inner = a.dim({"encoder_ffn_dim", "intermediate_size"}),
                       .heads = a.dim({"encoder_attention_heads", "num_attention_heads"}),
                       .act = activation_class(a, {"activation_function"}, "gelu"),
                       .key_bias = key_bias};
  return stack("layers", prefix + "EncoderLayer", a.dim({"encoder_layers", "num_hidden_layers"}),
               [&] { return seq2seq_encoder_layer(prefix, s); });
}

Config with_large_whisper_sizes(const Config& a) {
  return a.with_defaults({{"d_model", 1280},
                          {"encoder_layers", 32},
                          {"encoder_ffn_dim", 5120},
                          {"encoder_attention_heads", 20},
                          {"num_mel_bins", 128}});
}

Submodel whisper_tower(const Config& a, const std::string& prefix) {
  const Size hidden = a.dim({"d_model", "hidden_size"});
  Part p = convolution("conv1", "Conv1d", {hidden, a.dim({"num_mel_bins"}, 128), 3}, Bias::yes) +
           convolution("conv2", "Conv1d", {hidden, hidden, 3}, Bias::yes) +
           embedding("embed_positions", a.dim({"max_source_positions"}, 1500), hidden) +
           whisper_layers(a, prefix, Bias::no) + layer_norm("layer_norm", hidden) +
           module("avg_pooler", "AvgPool1d");
  return {prefix + "Encoder", unsplittable(std::move(p), {prefix + "EncoderLayer"}), hidden};
}

Part strided_convolutions(const Config& a) {
  const Size hidden = a.dim({"d_model", "hidden_size"});
  const Size channels = a.dim({"downsample_hidden_size"}, 480);
  Size bins = a.dim({"num_mel_bins"}, 128);
  for (int i = 0; i < 3; ++i) bins = (bins + 1) / 2;
  return convolution("conv2d1", "Conv2d", {channels, 1, 3, 3}, Bias::yes) +
         convolution("conv2d2", "Conv2d", {channels, channels, 3, 3}, Bias::yes) +
         convolution("conv2d3", "Conv2d", {channels, channels, 3, 3}, Bias::yes) +
         linear("conv_out", channels * bins, hidden);
}

Part sine_table(Size rows, Size dim) {
  return in("positional_embedding", "SinusoidsPositionEmbedding",
            buffer("positional_embedding", {rows, dim}));
}

}  // namespace headroom::model::families
