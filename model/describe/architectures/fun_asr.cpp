// Fun-ASR-Nano: an audio encoder, layers that adapt its output, and a text model. The encoder reads
// stacked frames. Its attention has a memory convolution on the values (arXiv:1803.05030).
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::fun_asr {

const std::string k = "FunAsrNano";

/// A layer with an input of `seen` dimensions. A `kernel` of 0 means no memory convolution.
Part layer(const Config& a, Size seen, Size kernel, const Part& last) {
  const Size width = a.dim({"hidden_size"}), inner = a.dim({"intermediate_size"});
  Part memory;
  if (kernel > 0)
    memory = in("fsmn", k + "FSMN",
                depthwise_conv("conv", width, kernel, Bias::no) + module("pad", "ConstantPad1d"));
  return in("self_attn", k + "Attention",
            linear("q_proj", seen, width, Bias::yes) + linear("k_proj", seen, width, Bias::yes) +
                linear("v_proj", seen, width, Bias::yes) +
                linear("o_proj", width, width, Bias::yes) + std::move(memory)) +
         in("mlp", k + "MLP",
            module("activation_fn", activation_class(a, {"hidden_act"}, "relu")) +
                linear("fc1", width, inner, Bias::yes) + linear("fc2", inner, width, Bias::yes)) +
         layer_norm("input_layernorm", seen) + layer_norm("post_attention_layernorm", width) + last;
}

/// The last layer before the timestamp layers ends in a norm, and so does the last layer of all.
Part encoder(const Config& a) {
  const Size width = a.dim({"hidden_size"}), layers = a.dim({"num_hidden_layers"});
  const Size seen = a.dim({"num_mel_bins"}, 80) * a.dim({"num_stacked_frames"}, 7);
  const Size words = layers - a.count({"num_timestamp_prediction_layers"}, 20);
  const Size kernel = a.dim({"fsmn_kernel_size"}, 11);
  if (seen % 2 != 0) a.fail("num_stacked_frames", "gives an odd number of dimensions");
  return in("position_embeddings", k + "PositionEmbedding",
            buffer("positional_embedding", {a.dim({"max_position_embeddings"}, 2049), seen})) +
         stack("layers", k + "EncoderLayer", layers, [&](Size i) {
           const bool ends = i + 1 == words || i + 1 == layers;
           return layer(
               a, i == 0 ? seen : width, kernel,
               ends ? layer_norm("final_layernorm", width) : module("final_layernorm", "Identity"));
         });
}

/// Source: transformers 5.23, models/fun_asr_nano/{configuration,modeling}_fun_asr_nano.py. The
/// adapter's class has no model_type, so its defaults are here.
Part fun_asr(const Config& c) {
  const Config a = section_of(c, "audio_config", "fun_asr_nano_encoder");
  const Config text = section_of(c, "text_config", "qwen3");
  const Config adapter =
      c.section_or_empty("adaptor_config")
          .with_defaults(
              {{"hidden_size", 1024}, {"intermediate_size", 256}, {"num_hidden_layers", 2}});
  const Size wide = adapter.dim({"projector_hidden_size"}, 2048);
  const Size out = adapter.dim({"hidden_size"});
  const Part projector =
      linear("linear_1", a.dim({"hidden_size"}), wide, Bias::yes) +
      module("act", activation_class(adapter, {"projector_hidden_act"}, "relu")) +
      linear("linear_2", wide, out, Bias::yes) +
      stack("layers", k + "EncoderLayer", adapter.dim({"num_hidden_layers"}),
            [&] { return layer(adapter, out, 0, module("final_layernorm", "Identity")); });
  Part body =
      in("model", k + "Model",
         in("audio_tower", k + "Encoder", encoder(a)) + text_model(text).as("language_model") +
             in("multi_modal_projector", k + "MultiModalProjector", projector));
  return with_language_head(
      with_unsplittable(std::move(body), {k + "Attention", k + "EncoderLayer"}), text,
      head_is_tied(c, text, true, Inherit::no), "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::fun_asr
