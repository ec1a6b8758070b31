// The whole Qwen3-Omni (arXiv:2509.17765): thinker, talker and vocoder. The talker turns the
// thinker's text into audio codes. A small model adds the finer codes of each step. The vocoder is
// convolutional.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/families.hpp"
#include "model/describe/blocks/qwen.hpp"

namespace headroom::model::families::qwen3_omni_voice {

const std::string k = "Qwen3OmniMoe";

/// Attention of a voice model. Its cache grows with the audio codes, not with the tokens of the
/// text. Therefore it is not counted in the cache of the whole model.
Part voice_attention(const Config& c, const Heads& heads) {
  const Bias bias = c.bias({"attention_bias"}, false);
  Part p = attention(c.dim({"hidden_size"}), heads, bias, bias);
  p.caches.clear();
  return p;
}
Heads voice_heads(const Config& c) {
  const Size query = c.dim({"num_attention_heads"});
  return {query, c.dim({"num_key_value_heads"}, query),
          c.dim({"head_dim"}, c.dim({"hidden_size"}) / query)};
}

/// A decoder that registers its embeddings last.
Part talker_model(const Config& t) {
  const Classes text{"Qwen3OmniMoeTalkerText"};
  const Size hidden = t.dim({"hidden_size"});
  const Heads heads = voice_heads(t);
  const std::string norm = k + "ThinkerTextRMSNorm";
  const Part mixture = qwen_mixture(t, text) + qwen_shared_expert(t, text);
  return stack("layers", k + "TalkerDecoderLayer", t.dim({"num_hidden_layers"}),
               [&](Size i) {
                 return in("self_attn", k + "ThinkerTextAttention",
                           voice_attention(t, heads) + head_norms(norm, heads.dim)) +
                        qwen_feed_forward(t, text, i, mixture) +
                        rms_norm("input_layernorm", norm, hidden) +
                        rms_norm("post_attention_layernorm", norm, hidden);
               }) +
         rms_norm("norm", k + "TextRMSNorm", hidden) +
         rotary(k + "TalkerRotaryEmbedding", rotated_if_scaled(t, heads.dim)) +
         embedding("codec_embedding", t.dim({"vocab_size"}), hidden);
}

/// The tables and heads for all codes of a step except the first.
Part code_predictor(const Config& p) {
  const Size hidden = p.dim({"hidden_size"}), vocab = p.dim({"vocab_size"});
  const Size groups = p.dim({"num_code_groups"}, 32) - 1;
  const Heads heads = voice_heads(p);
  const std::string norm = k + "RMSNorm", act = activation_class(p, {"hidden_act"}, "silu");
  const Part body =
      stack("layers", k + "TalkerCodePredictorDecoderLayer", p.dim({"num_hidden_layers"}),
            [&] {
              return in("self_attn", k + "TalkerCodePredictorAttention",
                        voice_attention(p, heads) + head_norms(norm, heads.dim)) +
                     in("mlp", k + "MLP", gated_mlp(hidden, p.dim({"intermediate_size"}), act)) +
                     rms_norm("input_layernorm", norm, hidden) +
                     rms_norm("post_attention_layernorm", norm, hidden);
            }) +
      rms_norm("norm", norm, hidden) +
      rotary(k + "RotaryEmbedding", rotated_if_scaled(p, heads.dim)) +
      list("codec_embedding", groups,
           [&](const std::string& name, Size) { return embedding(name, vocab, hidden); });
  return in("model", k + "TalkerCodePredictorModel", body) +
         list("lm_head", groups,
              [&](const std::string& name, Size) { return linear(name, hidden, vocab); });
}

Part talker(const Config& c) {
  const Config t = section_of(c, "text_config", "qwen3_omni_moe_talker_text")
                       .renamed({{"num_local_experts", "num_experts"}});
  const Size hidden = t.dim({"hidden_size"}), inner = t.dim({"intermediate_size"});
  const std::string act = activation_class(t, {"hidden_act"}, "silu");
  const auto projection = [&](std::string_view name) {
    return in(name, k + "TalkerResizeMLP",
              linear("linear_fc1", c.dim({"thinker_hidden_size"}, 2048), inner, Bias::yes) +
                  linear("linear_fc2", inner, hidden, Bias::yes) + module("act_fn", act));
  };
  return in("model", k + "TalkerModel", talker_model(t)) + projection("text_projection") +
         projection("hidden_projection") + linear("codec_head", hidden, t.dim({"vocab_size"})) +
         in("code_predictor", k + "TalkerCodePredictorModelForConditionalGeneration",
            code_predictor(
                section_of(c, "code_predictor_config", "qwen3_omni_moe_talker_code_predictor")));
}

// ---- vocoder ------------------------------------------------------------------------------------

/// A convolution that sees only the past, with `seen` input channels for each output channel.
Part causal(std::string_view name, Size seen, Size to, Size kernel) {
  return in(name, k + "CausalConvNet",
            convolution("conv", "Conv1d", {to, seen, kernel}, Bias::yes));
}
Part upsampling(std::string_view name, Size from, Size to, Size kernel) {
  return in(
      name, k + "CausalTransConvNet",
      in("conv", "ConvTranspose1d",
         tensor("weight", {from, to, kernel}, Role::conv) + tensor("bias", {to}, Role::bias)));
}
Part snake(std::string_view name, Size channels) {
  return in(name, k + "SnakeBeta",
            tensor("alpha", {channels}, Role::other) + tensor("beta", {channels}, Role::other));
}

Part vocoder_transformer(const Config& v) {
  const Size hidden = v.dim({"hidden_size"});
  const Heads heads = voice_heads(v);
  const std::string norm = k + "Code2WavRMSNorm", act = activation_class(v, {"hidden_act"}, "silu");
  const auto scale = [&](std::string_view name) {
    return in(name, k + "Code2WavLayerScale", tensor("scale", {hidden}, Role::other));
  };
  return stack("layers", k + "Code2WavTransformerLayer", v.dim({"num_hidden_layers"}),
               [&] {
                 return in("self_attn", k + "Code2WavAttention",
                           voice_attention(v, heads) + module("q_norm", "Identity") +
                               module("k_norm", "Identity")) +
                        in("mlp", k + "Code2WavMlp",
                           gated_mlp(hidden, v.dim({"intermediate_size"}), act)) +
                        rms_norm("input_layernorm", norm, hidden) +
                        rms_norm("post_attention_layernorm", norm, hidden) +
                        scale("self_attn_layer_scale") + scale("mlp_layer_scale");
               }) +
         rms_norm("norm", k + "RMSNorm", hidden) +
         rotary(k + "RotaryEmbedding", rotated_if_scaled(v, heads.dim));
}

/// One step of the decoder. It halves the channels and multiplies the samples by `rate`.
Part decoder_block(std::string_view name, Size from, Size rate) {
  const Size to = from / 2;
  Part block = snake("0", from) + upsampling("1", from, to, 2 * rate);
  for (const std::string unit : {"2", "3", "4"})
    block = std::move(block) + in(unit, k + "Code2WavDecoderResidualUnit",
                                  snake("act1", to) + causal("conv1", to, to, 7) +
                                      snake("act2", to) + causal("conv2", to, to, 1));
  return in(name, k + "Code2WavDecoderBlock", in("block", "ModuleList", std::move(block)));
}

/// Defaults of Qwen3OmniMoeCode2WavConfig, a class without a model_type.
boost::json::object vocoder_defaults() {
  return {{"hidden_size", 1024},        {"num_attention_heads", 16},
          {"num_key_value_heads", 16},  {"intermediate_size", 3072},
          {"num_hidden_layers", 8},     {"upsample_rates", {8, 5, 4, 3}},
          {"upsampling_ratios", {2, 2}}};
}

Part vocoder(const Config& v) {
  const Size hidden = v.dim({"hidden_size"}), first = v.dim({"decoder_dim"}, 1536);
  const Size quantizers = v.dim({"num_quantizers"}, 16);
  const auto ratios = v.dims({"upsampling_ratios"}), rates = v.dims({"upsample_rates"});
  const Size steps = static_cast<Size>(rates.size());
  if (steps > 30 || first >> steps < 1)
    v.fail("upsample_rates", "found " + std::to_string(steps) +
                                 " entries, which leave nothing of " + std::to_string(first) +
                                 " channels");
  const auto upsample = [&](const std::string& name, Size i) {
    const Size factor = ratios[static_cast<std::size_t>(i)];
    return in(
        name, "ModuleList",
        upsampling("0", hidden, hidden, factor) +
            in("1", k + "ConvNeXtBlock",
               tensor("gamma", {hidden}, Role::other) + causal("dwconv", 1, hidden, 7) +
                   layer_norm("norm", hidden) + linear("pwconv1", hidden, 4 * hidden, Bias::yes) +
                   module("act", "GELU") + linear("pwconv2", 4 * hidden, hidden, Bias::yes)));
  };
  const auto decode = [&](const std::string& name, Size i) {
    if (i == 0) return causal(name, hidden, first, 7);
    if (i <= steps)
      return decoder_block(name, first >> (i - 1), rates[static_cast<std::size_t>(i - 1)]);
    return i == steps + 1 ? snake(name, first >> steps) : causal(name, first >> steps, 1, 7);
  };
  return buffer("code_offset", {1, quantizers, 1}, Element::int64) +
         in("pre_transformer", k + "Code2WavTransformerModel", vocoder_transformer(v)) +
         embedding("code_embedding", v.dim({"codebook_size"}, 2048) * quantizers, hidden) +
         list("upsample", static_cast<Size>(ratios.size()), upsample) +
         list("decoder", steps + 3, decode);
}

/// Source: transformers 5.23, models/qwen3_omni_moe/{configuration,modeling}_qwen3_omni_moe.py.
Part qwen3_omni(const Config& c) {
  const Config thinker = section_of(c, "thinker_config", "qwen3_omni_moe_thinker");
  Part p = in("thinker", k + "ThinkerForConditionalGeneration",
              owners_at(qwen_omni::qwen3_omni_thinker(thinker), "thinker"));
  if (!c.flag({"enable_audio_output"}, true)) return p;
  return std::move(p) +
         in("talker", k + "TalkerForConditionalGeneration",
            talker(c.section_or_empty("talker_config"))) +
         in("code2wav", k + "Code2Wav",
            vocoder(c.section_or_empty("code2wav_config").with_defaults(vocoder_defaults())));
}

}  // namespace headroom::model::families::qwen3_omni_voice
