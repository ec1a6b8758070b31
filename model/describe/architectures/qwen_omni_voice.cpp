// The whole Qwen2.5-Omni (arXiv:2503.20215): thinker, talker and vocoder. The talker turns the
// thinker's text into audio codes. The vocoder is a diffusion transformer and BigVGAN
// (arXiv:2206.04658). The transformer has a speaker encoder (ECAPA-TDNN, arXiv:2005.07143).
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/families.hpp"

namespace headroom::model::families::qwen_omni_voice {

const std::string k = "Qwen2_5Omni";

Part conv(std::string_view name, Size from, Size to, Size kernel) {
  return convolution(name, "Conv1d", {to, from, kernel}, Bias::yes);
}
Part delay(std::string_view name, Size from, Size to, Size kernel) {
  return in(name, "TimeDelayNetBlock",
            conv("conv", from, to, kernel) + module("activation", "ReLU"));
}
Size entry(const Config& c, std::string_view key, const std::vector<Size>& all, std::size_t i) {
  if (i >= all.size() || all[i] < 1) c.fail(key, "found too few numbers, or one below 1");
  return all[i];
}

Part speaker_encoder(const Config& d) {
  const auto channels = d.dims({"enc_channels"}), kernels = d.dims({"enc_kernel_sizes"});
  const Size n = static_cast<Size>(channels.size());
  if (n < 2 || n > 64 || kernels.size() != channels.size())
    d.fail("enc_channels", "expected 2 to 64 entries, and as many in enc_kernel_sizes");
  const auto width = [&](Size i) {
    return entry(d, "enc_channels", channels, static_cast<std::size_t>(i));
  };
  const auto kernel = [&](Size i) {
    return entry(d, "enc_kernel_sizes", kernels, static_cast<std::size_t>(i));
  };
  const Size scale = d.dim({"enc_res2net_scale"}, 2), squeezed = d.dim({"enc_se_channels"}, 64);
  const Size last = width(n - 1), attended = d.dim({"enc_attention_channels"}, 64);
  if (scale > 64) d.fail("enc_res2net_scale", "expected at most 64");
  const Part blocks = list("blocks", n - 1, [&](const std::string& name, Size i) {
    if (i == 0) return delay(name, d.dim({"mel_dim"}, 80), width(0), kernel(0));
    const Size from = width(i - 1), to = width(i), part = to / scale;
    return in(name, "SqueezeExcitationRes2NetBlock",
              delay("tdnn1", from, to, 1) +
                  in("res2net_block", "Res2NetBlock",
                     list("blocks", scale - 1,
                          [&](const std::string& inner, Size) {
                            return delay(inner, part, part, kernel(i));
                          })) +
                  delay("tdnn2", to, to, 1) +
                  in("se_block", "SqueezeExcitationBlock",
                     conv("conv1", to, squeezed, 1) + module("relu", "ReLU") +
                         conv("conv2", squeezed, to, 1) + module("sigmoid", "Sigmoid")));
  });
  return in("spk_encoder", "ECAPA_TimeDelayNet",
            blocks + delay("mfa", last, last, kernel(n - 1)) +
                in("asp", "AttentiveStatisticsPooling",
                   delay("tdnn", 3 * last, attended, 1) + module("tanh", "Tanh") +
                       conv("conv", attended, last, 1)) +
                conv("fc", 2 * last, d.dim({"enc_dim"}, 128), 1));
}

Part diffusion(const Config& d) {
  const Size width = d.dim({"hidden_size"}), mel = d.dim({"mel_dim"}, 80);
  const Size codes = d.dim({"emb_dim"}, 512), dim = d.dim({"head_dim"}, 64);
  const Size heads = d.dim({"num_attention_heads"}) * dim, inner = width * d.dim({"ff_mult"}, 2);
  const auto modulation = [&](std::string_view name, std::string_view class_name, Size times_wide) {
    return in(name, class_name,
              module("silu", "SiLU") + linear("linear", width, times_wide * width, Bias::yes) +
                  module("norm", "LayerNorm"));
  };
  const Part layer =
      modulation("attn_norm", "Qwen2_5_OmniAdaLayerNormZero", 6) +
      in("attn", "DiTAttention",
         linear("to_q", width, heads, Bias::yes) + linear("to_k", width, heads, Bias::yes) +
             linear("to_v", width, heads, Bias::yes) +
             in("to_out", "ModuleList", linear("0", heads, width, Bias::yes) + dropout("1"))) +
      module("ff_norm", "LayerNorm") +
      in("ff", "DiTMLP",
         in("ff", "ModuleList",
            linear("0", width, inner, Bias::yes) + module("1", "GELU") + dropout("2") +
                linear("3", inner, width, Bias::yes)));
  return in("time_embed", "DiTTimestepEmbedding",
            module("time_embed", "SinusPositionEmbedding") +
                in("time_mlp", "ModuleList",
                   linear("0", 256, width, Bias::yes) + module("1", "SiLU") +
                       linear("2", width, width, Bias::yes))) +
         in("text_embed", "DiTCodecEmbedding",
            embedding("codec_embed", d.dim({"num_embeds"}, 8193) + 1, codes)) +
         in("input_embed", "DiTInputEmbedding",
            linear("proj", mel + d.dim({"enc_dim"}, 128) + d.dim({"enc_emb_dim"}, 192) + codes,
                   width, Bias::yes) +
                speaker_encoder(d)) +
         frequencies("rotary_embed", k + "DiTRotaryEmbedding", dim / 2) +
         stack("transformer_blocks", "DiTDecoderLayer", d.dim({"num_hidden_layers"}),
               [&] { return layer; }) +
         modulation("norm_out", "Qwen2_5_OmniAdaLayerNormZero_Final", 2) +
         linear("proj_out", width, mel, Bias::yes);
}

Part activation(std::string_view name, Size channels) {
  return in(name, k + "AntiAliasedActivation1d",
            in("act", k + "SnakeBeta",
               tensor("alpha", {channels}, Role::other) + tensor("beta", {channels}, Role::other)) +
                in("upsample", k + "UpSample1d", buffer("filter", {1, 1, 12})) +
                in("downsample", k + "DownSample1d", buffer("filter", {1, 1, 12})));
}

Part vocoder(const Config& v) {
  const auto kernels = v.dims({"resblock_kernel_sizes"}), ups = v.dims({"upsample_kernel_sizes"});
  const Size first = v.dim({"upsample_initial_channel"}, 1536);
  const Size levels = static_cast<Size>(v.dims({"upsample_rates"}).size());
  const Size each = static_cast<Size>(kernels.size());
  if (levels > 32 || each > 32) v.fail("upsample_rates", "expected at most 32 entries");
  const Part blocks = list("resblocks", levels * each, [&](const std::string& name, Size i) {
    const Size channels = first >> (i / each + 1);
    const Size kernel =
        entry(v, "resblock_kernel_sizes", kernels, static_cast<std::size_t>(i % each));
    const auto convs = [&](std::string_view scope) {
      return list(scope, 3, [&](const std::string& inner, Size) {
        return conv(inner, channels, channels, kernel);
      });
    };
    return in(name, k + "AMPBlock",
              convs("convs1") + convs("convs2") +
                  list("activations", 6, [&](const std::string& inner, Size) {
                    return activation(inner, channels);
                  }));
  });
  return conv("conv_pre", v.dim({"mel_dim"}, 80), first, 7) +
         list("ups", levels,
              [&](const std::string& name, Size i) {
                const Size kernel =
                    entry(v, "upsample_kernel_sizes", ups, static_cast<std::size_t>(i));
                const Size to = first >> (i + 1);
                return in(name, "ModuleList",
                          in("0", "ConvTranspose1d",
                             tensor("weight", {first >> i, to, kernel}, Role::conv) +
                                 tensor("bias", {to}, Role::bias)));
              }) +
         blocks + activation("activation_post", first >> levels) +
         convolution("conv_post", "Conv1d", {1, first >> levels, 7});
}

/// Qwen2's layers over embeddings of a different width. The talker's cache grows with its codes,
/// not with the tokens of the text. Therefore it is not counted in the cache of the whole model.
Part talker(const Config& t) {
  const Size hidden = t.dim({"hidden_size"}), wide = t.dim({"embedding_size"}, 3584);
  const Size vocab = t.dim({"vocab_size"});
  Part body = renamed(text_model(t, "qwen2").part, "Qwen2", k, {"Qwen2MLP"});
  tensor_of(body, "embed_tokens.weight").shape = {vocab, wide};
  body.caches.clear();
  return linear("thinker_to_talker_proj", wide, hidden, Bias::yes) +
         in("model", k + "TalkerModel", std::move(body)) + linear("codec_head", hidden, vocab);
}

/// Source: transformers 5.23, models/qwen2_5_omni/modeling_qwen2_5_omni.py.
Part qwen2_5_omni(const Config& c) {
  const Config thinker = section_of(c, "thinker_config", "qwen2_5_omni_thinker");
  Part p = in("thinker", k + "ThinkerForConditionalGeneration",
              owners_at(qwen_omni::qwen2_5_omni_thinker(thinker), "thinker"));
  if (!c.flag({"enable_audio_output"}, true))
    return with_unsplittable(std::move(p),
                             {k + "TalkerForConditionalGeneration", k + "Token2WavModel"});
  const Config wave = section_of(c, "token2wav_config", "qwen2_5_omni_token2wav");
  return with_unsplittable(
      std::move(p) +
          in("talker", k + "TalkerForConditionalGeneration",
             talker(section_of(c, "talker_config", "qwen2_5_omni_talker"))) +
          in("token2wav", k + "Token2WavModel",
             in("code2wav_dit_model", k + "Token2WavDiTModel",
                diffusion(section_of(wave, "dit_config", "qwen2_5_omni_dit"))) +
                 in("code2wav_bigvgan_model", k + "Token2WavBigVGANModel",
                    vocoder(section_of(wave, "bigvgan_config", "qwen2_5_omni_bigvgan")))),
      {"DiTDecoderLayer", k + "TalkerForConditionalGeneration", k + "Token2WavBigVGANModel",
       k + "Token2WavDiTModel", k + "Token2WavModel"});
}

}  // namespace headroom::model::families::qwen_omni_voice
