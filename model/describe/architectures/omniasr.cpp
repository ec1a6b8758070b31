// Omnilingual ASR (arXiv:2511.09690): wav2vec 2.0's encoder with a norm before each half, and
// either a head that transcribes (CTC) or a text model that writes.
#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families::omniasr {

/// A convolution over the waveform or the frames before, then a norm over its channels.
Part front_layer(Size from, Size to, Size kernel, Bias bias, const std::string& act) {
  return convolution("conv", "Conv1d", {to, from, kernel}, bias) + layer_norm("layer_norm", to) +
         module("activation", act);
}

Part encoder_layer(Size hidden, Size inner, const std::string& act) {
  Part attn;
  for (const auto name : {"k_proj", "v_proj", "q_proj", "out_proj"})
    attn = std::move(attn) + linear(name, hidden, hidden, Bias::yes);
  return in("attention", "OmniASRAttention", std::move(attn)) + dropout() +
         layer_norm("layer_norm", hidden) +
         in("feed_forward", "OmniASRFeedForward",
            dropout("intermediate_dropout") +
                linear("intermediate_dense", hidden, inner, Bias::yes) +
                module("intermediate_act_fn", act) +
                linear("output_dense", inner, hidden, Bias::yes) + dropout("output_dropout")) +
         layer_norm("final_layer_norm", hidden);
}

/// Source: transformers 5.24, models/omniasr/modeling_omniasr.py, OmniASRAudioModel.
Submodel audio_tower(const Config& a) {
  const Size hidden = a.dim({"hidden_size"}), inner = a.dim({"intermediate_size"});
  const auto dims = a.dims({"conv_dim"}), kernels = a.dims({"conv_kernel"});
  if (dims.empty() || kernels.size() != dims.size())
    a.fail("conv_dim", "expected a list as long as conv_kernel, at least one");
  const Size groups = a.dim({"num_conv_pos_embedding_groups"});
  if (hidden % groups != 0)
    a.fail("num_conv_pos_embedding_groups", "expected a divisor of hidden_size");
  const std::string act = activation_class(a, {"hidden_act"}, "gelu");
  const Bias bias = a.bias({"conv_bias"}, true);
  Part front =
      list("conv_layers", static_cast<Size>(dims.size()), [&](const std::string& name, Size i) {
        const auto at = static_cast<std::size_t>(i);
        return in(name, "OmniASRLayerNormConvLayer",
                  front_layer(i == 0 ? 1 : dims[at - 1], dims[at], kernels[at], bias, act));
      });
  Part p =
      in("subsampling", "OmniASREncoderSubsamplingConv1D",
         std::move(front) + layer_norm("layer_norm", dims.back()) +
             linear("projection", dims.back(), hidden, Bias::yes)) +
      in("encode_positions", "OmniASRPositionalConvEmbedding",
         convolution("conv", "Conv1d",
                     {hidden, hidden / groups, a.dim({"num_conv_pos_embeddings"})}, Bias::yes) +
             module("activation", act)) +
      stack("layers", "OmniASREncoderLayer", a.dim({"num_hidden_layers"}),
            [&] { return encoder_layer(hidden, inner, act); }) +
      layer_norm("layer_norm", hidden);
  return {"OmniASRAudioModel", unsplittable(std::move(p), {"OmniASREncoderLayer"}), hidden};
}

/// Source: transformers 5.24, models/omniasr_ctc/modeling_omniasr_ctc.py.
Part ctc(const Config& c) {
  const Submodel audio = audio_tower(section_of(c, "audio_config", "omniasr_audio"));
  return output_head("ctc_head", audio.width, c.dim({"vocab_size"}), Bias::yes) +
         in("model", "OmniASRCTCModel", audio.as("audio_tower"));
}

/// Source: transformers 5.24, models/omniasr/modeling_omniasr.py. The head is never tied.
Part omniasr(const Config& c) {
  const Submodel audio = audio_tower(section_of(c, "audio_config", "omniasr_audio"));
  const Config text = section_of(c, "text_config", "llama");
  const Submodel language = text_model(text);
  return with_language_head(
      in("model", "OmniASRModel",
         audio.as("audio_tower") + language.as("language_model") +
             linear("multi_modal_projector", audio.width, language.width, Bias::yes)),
      text, false, "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::omniasr
