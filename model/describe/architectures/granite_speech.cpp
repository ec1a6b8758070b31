// Granite Speech (arXiv:2505.08699): a conformer trained on characters, a query transformer over
// windows of its output, and Granite.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::granite_speech {

/// Batch norm: scale, shift, and the running statistics as buffers.
Part batch_norm(std::string_view name, Size dim) {
  return in(name, "BatchNorm1d",
            tensor("weight", {dim}, Role::norm) + tensor("bias", {dim}, Role::norm) +
                buffer("running_mean", {dim}, Element::floating, true) +
                buffer("running_var", {dim}, Element::floating, true) +
                buffer("num_batches_tracked", {}, Element::int64, true));
}

Part encoder(const Config& a, const std::string& k) {
  const Size hidden = a.dim({"hidden_dim"}), heads = a.dim({"num_heads"});
  const Size inner = times({heads, a.dim({"dim_head"}, hidden / heads)});
  const Size wide = hidden * a.dim({"feedforward_mult"}, 4);
  const Size channels = hidden * a.dim({"conv_expansion_factor"}, 2);
  const Size out = a.dim({"output_dim"}, 42), context = a.dim({"context_size"}, 200);
  const auto feed_forward = [&](std::string_view name) {
    return in(name, k + "ConformerFeedForward",
              layer_norm("pre_norm", hidden) + linear("up_proj", hidden, wide, Bias::yes) +
                  module("silu", "SiLU") + dropout() +
                  linear("down_proj", wide, hidden, Bias::yes));
  };
  const Part layer =
      feed_forward("ff1") +
      in("attn", k + "ConformerAttention",
         layer_norm("pre_norm", hidden) + linear("to_q", hidden, inner) +
             linear("to_kv", hidden, 2 * inner) + linear("to_out", inner, hidden, Bias::yes) +
             embedding("rel_pos_emb", 2 * a.dim({"max_pos_emb"}, 512) + 1, inner / heads) +
             dropout()) +
      in("conv", k + "ConformerConvModule",
         layer_norm("norm", hidden) +
             convolution("up_conv", "Conv1d", {2 * channels, hidden, 1}, Bias::yes) +
             module("glu", "GLU") +
             in("depth_conv", k + "ConformerDepthWiseConv1d",
                convolution("conv", "Conv1d", {channels, 1, a.dim({"conv_kernel_size"}, 15)})) +
             module("silu", "SiLU") + batch_norm("batch_norm", channels) +
             convolution("down_conv", "Conv1d", {hidden, channels, 1}, Bias::yes) + dropout()) +
      feed_forward("ff2") + layer_norm("post_norm", hidden);
  return buffer("attention_dists", {context, context}, Element::int64) +
         linear("input_linear", a.dim({"input_dim"}, 160), hidden, Bias::yes) +
         stack("layers", k + "ConformerBlock", a.dim({"num_layers"}), [&] { return layer; }) +
         linear("out", hidden, out, Bias::yes) + linear("out_mid", out, hidden, Bias::yes);
}

/// Source: transformers 5.23, models/granite_speech, models/granite_speech_plus. The adapter in
/// published files is not part of the class.
Part granite_speech(const Config& c) {
  const std::string_view suffix = "ForConditionalGeneration";
  const std::string k = c.class_name().substr(0, c.class_name().size() - suffix.size());
  const Config text = section_of(c, "text_config", "granite");
  const Config a =
      section_of(c, "encoder_config",
                 k.ends_with("Plus") ? "granite_speech_plus_encoder" : "granite_speech_encoder");
  const Config q = section_of(c, "projector_config", "blip_2_qformer");
  const Submodel language = text_model(text);
  const Size width = q.dim({"hidden_size"});
  const Size queries = c.dim({"window_size"}, 15) / c.dim({"downsample_rate"}, 5);
  Part body = in("model", k + "Model",
                 in("encoder", k + "CTCEncoder", encoder(a, k)) +
                     in("projector", k + "EncoderProjector",
                        tensor("query", {1, queries, width}, Role::other) +
                            qformer(q, "Blip2", q.dim({"encoder_hidden_size"}, 1408)) +
                            linear("linear", width, language.width, Bias::yes)) +
                     language.as("language_model"));
  return with_language_head(std::move(body), text, head_is_tied(c, text, true, Inherit::no),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::granite_speech
