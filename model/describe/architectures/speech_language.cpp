// Audio encoders with rotary positions and language models: GLM-ASR and Voxtral Realtime.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::speech_language {

constexpr std::string_view embedding_weight = "model.language_model.embed_tokens.weight";

/// Whisper's convolutions, and rotation of half of each head. Source: transformers 5.23,
/// models/glmasr.
Part glm_asr_encoder(const Config& a) {
  const std::string k = "GlmAsr";
  const Size hidden = a.dim({"hidden_size"}), inner = a.dim({"intermediate_size"});
  const Heads h = heads_of(a, {});
  const std::string act = activation_class(a, {"hidden_act"}, "gelu");
  return convolution("conv1", "Conv1d", {hidden, a.dim({"num_mel_bins"}, 128), 3}, Bias::yes) +
         convolution("conv2", "Conv1d", {hidden, hidden, 3}, Bias::yes) +
         stack("layers", k + "EncoderLayer", a.dim({"num_hidden_layers"}),
               [&] {
                 return in("self_attn", k + "Attention",
                           linear("q_proj", hidden, h.query * h.dim, Bias::yes) +
                               linear("k_proj", hidden, h.kv * h.dim) +
                               linear("v_proj", hidden, h.kv * h.dim, Bias::yes) +
                               linear("o_proj", h.query * h.dim, hidden, Bias::yes)) +
                        in("mlp", k + "MLP",
                           linear("fc1", hidden, inner, Bias::yes) +
                               linear("fc2", inner, hidden, Bias::yes) + module("act_fn", act)) +
                        layer_norm("input_layernorm", hidden) +
                        layer_norm("post_attention_layernorm", hidden);
               }) +
         layer_norm("norm", hidden) + rotary(k + "RotaryEmbedding", rotated_dims(a, h.dim, 0.5));
}

/// Causal convolutions, windowed attention and gated layers. Source: transformers 5.23,
/// models/voxtral_realtime.
Part voxtral_encoder(const Config& a) {
  const std::string k = "VoxtralRealtime";
  const Size hidden = a.dim({"hidden_size"}), inner = a.dim({"intermediate_size"});
  const Size heads = a.dim({"num_attention_heads"});
  const Size dim = a.dim_or_none({"head_dim"}, 64), each = dim > 0 ? dim : hidden / heads;
  const std::string act = activation_class(a, {"hidden_act"}, "silu");
  const auto causal = [&](std::string_view name, Size from) {
    return convolution(name, k + "CausalConv1d", {hidden, from, 3}, Bias::yes);
  };
  const Part mlp = linear("gate_proj", hidden, inner) + linear("up_proj", hidden, inner) +
                   linear("down_proj", inner, hidden, Bias::yes) + module("act_fn", act);
  return in("embedder", k + "Embedder",
            causal("conv1", a.dim({"num_mel_bins"}, 128)) + causal("conv2", hidden)) +
         stack("layers", k + "EncoderLayer", a.dim({"num_hidden_layers"}),
               [&] {
                 return in("self_attn", k + "Attention",
                           linear("q_proj", hidden, heads * each, Bias::yes) +
                               linear("k_proj", hidden, heads * each) +
                               linear("v_proj", hidden, heads * each, Bias::yes) +
                               linear("o_proj", heads * each, hidden, Bias::yes)) +
                        rms_norm("self_attn_layer_norm", k + "RMSNorm", hidden) +
                        module("activation_fn",
                               activation_class(a, {"activation_function"}, "gelu")) +
                        rms_norm("final_layer_norm", k + "RMSNorm", hidden) +
                        in("mlp", k + "MLP", mlp);
               }) +
         rms_norm("norm", k + "RMSNorm", hidden) +
         rotary(k + "RotaryEmbedding", rotated_if_scaled(a, each));
}

/// Mistral's layers. An adaptive norm scales each layer by the transcript's delay.
Part voxtral_text(const Config& t) {
  const std::string k = "VoxtralRealtime";
  const Size hidden = t.dim({"hidden_size"});
  const Common s = common_of(t, {.kv_heads = 8});
  const Size window = t.dim_or_none({"sliding_window"}, 4096);
  return embedding("embed_tokens", t.dim({"vocab_size"}), hidden) +
         stack("layers", k + "TextDecoderLayer", s.layers,
               [&] {
                 return in("self_attn", k + "TextAttention",
                           attention(hidden, s.heads, Bias::no, Bias::no, window)) +
                        in("mlp", k + "TextMLP", gated_mlp(hidden, s.inner, s.act)) +
                        rms_norm("input_layernorm", k + "RMSNorm", hidden) +
                        rms_norm("post_attention_layernorm", k + "RMSNorm", hidden) +
                        in("ada_rms_norm", k + "TextAdaRmsNorm",
                           linear("linear1", hidden, 32) + linear("linear2", 32, hidden));
               }) +
         rms_norm("norm", k + "RMSNorm", hidden) +
         rotary(k + "RotaryEmbedding", rotated_if_scaled(t, s.heads.dim));
}

/// The projector reads four concatenated frames. Together they have the width of the encoder's
/// feed-forward.
Part glm_asr(const Config& c) {
  // Missing keys of the section have the defaults of a missing section.
  const Config text = with_class_defaults(c.section_or_empty("text_config")
                                              .with_defaults({{"vocab_size", 59264},
                                                              {"hidden_size", 2048},
                                                              {"intermediate_size", 6144},
                                                              {"num_hidden_layers", 28},
                                                              {"num_attention_heads", 16},
                                                              {"num_key_value_heads", 4},
                                                              {"max_position_embeddings", 8192},
                                                              {"model_type", "llama"}}),
                                          "llama");
  const Config a = section_of(c, "audio_config", "glmasr_encoder");
  const Submodel language = text_model(text);
  const Size wide = 2 * language.width;
  Part body =
      in("model", "GlmAsrModel",
         in("audio_tower", "GlmAsrEncoder", glm_asr_encoder(a)) + language.as("language_model") +
             in("multi_modal_projector", "GlmAsrMultiModalProjector",
                linear("linear_1", a.dim({"intermediate_size"}), wide, Bias::yes) +
                    module("act", activation_class(c, {"projector_hidden_act"}, "gelu")) +
                    linear("linear_2", wide, language.width, Bias::yes)));
  return with_language_head(
      with_unsplittable(std::move(body), {"GlmAsrAttention", "GlmAsrEncoderLayer"}), text,
      head_is_tied(c, text, true, Inherit::no), embedding_weight);
}

Part voxtral_realtime(const Config& c) {
  const std::string k = "VoxtralRealtime";
  const Config text = with_class_defaults(c.section_or_empty("text_config")
                                              .with_defaults({{"vocab_size", 131072},
                                                              {"hidden_size", 3072},
                                                              {"intermediate_size", 9216},
                                                              {"num_hidden_layers", 26},
                                                              {"num_attention_heads", 32},
                                                              {"num_key_value_heads", 8},
                                                              {"head_dim", 128},
                                                              {"sliding_window", 8192}}),
                                          "voxtral_realtime_text");
  const Config a = section_of(c, "audio_config", "voxtral_realtime_encoder");
  const Size hidden = text.dim({"hidden_size"});
  Part body = in(
      "model", k + "Model",
      in("audio_tower", k + "Encoder", voxtral_encoder(a)) +
          in("language_model", k + "TextModel", voxtral_text(text)) +
          in("multi_modal_projector", k + "MultiModalProjector",
             linear("linear_1", a.dim({"hidden_size"}) * c.dim({"downsample_factor"}, 4), hidden) +
                 module("act", activation_class(c, {"projector_hidden_act"}, "gelu")) +
                 linear("linear_2", hidden, hidden)) +
          in("time_embedding", k + "TimeEmbedding", buffer("inv_freq", {hidden / 2})));
  return with_language_head(
      with_unsplittable(std::move(body), {k + "EncoderLayer", k + "TextDecoderLayer"}), text,
      head_is_tied(c, text, true, Inherit::no), embedding_weight);
}

}  // namespace headroom::model::families::speech_language
