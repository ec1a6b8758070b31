// wav2vec 2.0 (arXiv:2006.11477) and its relatives: convolutions over the waveform, then an
// encoder. Heads transcribe (CTC), recognise speakers or assign labels.
#include "model/describe/architectures/words.hpp"

namespace headroom::model::families::wav2vec2 {

/// The names of a family. For Wav2Vec2ForCTC they are "Wav2Vec2" in class names and "wav2vec2" for
/// the body.
struct Family {
  std::string_view name, body;
};
constexpr Family families_of_speech[] = {{"Wav2Vec2", "wav2vec2"},
                                         {"Hubert", "hubert"},
                                         {"WavLM", "wavlm"},
                                         {"UniSpeechSat", "unispeech_sat"},
                                         {"UniSpeech", "unispeech"}};

Family family_of(const Config& c) {
  for (const auto& family : families_of_speech)
    if (c.class_name().starts_with(family.name)) return family;
  throw std::logic_error(std::string(c.class_name()) + " is no relative of Wav2Vec2");
}

class Speech {
 public:
  explicit Speech(const Config& c)
      : c_(c),
        family_(family_of(c)),
        hidden_(c.dim({"hidden_size"})),
        stable_(c.flag({"do_stable_layer_norm"}, false)),
        dims_(c.dims({"conv_dim"})),
        front_act_(activation_class(c, {"feat_extract_activation"}, "gelu")) {
    if (dims_.empty() || c.dims({"conv_kernel"}).size() != dims_.size())
      c.fail("conv_dim", "expected a list as long as conv_kernel, at least one");
  }

  Size out() const {
    return adapts() ? c_.dim_or_none({"output_hidden_size"}, 0) > 0 ? c_.dim({"output_hidden_size"})
                                                                    : hidden_
                    : hidden_;
  }

  Part body() const {
    Part p;
    if (c_.number({"mask_time_prob"}, 0.05) > 0 || c_.number({"mask_feature_prob"}, 0) > 0)
      p = tensor("masked_spec_embed", {hidden_}, Role::other);
    p = std::move(p) + in("feature_extractor", k("FeatureEncoder"), front()) + projection() +
        encoder();
    return adapts() ? std::move(p) + in("adapter", k("Adapter"), adapter()) : p;
  }

  Part named_body() const { return in(family_.body, k("Model"), body()); }
  std::string k(std::string_view rest) const { return join(family_.name, rest); }
  Size last_conv() const { return dims_.back(); }

 private:
  bool is(std::string_view name) const { return family_.name == name; }
  bool adapts() const { return c_.flag({"add_adapter"}, false); }

  /// Every convolution has a norm, or only the first has one over its channels.
  Part front() const {
    const std::string norm = c_.text({"feat_extract_norm"}, "group");
    if (norm != "group" && norm != "layer")
      c_.fail("feat_extract_norm", "found '" + norm + "', expected group or layer");
    const auto kernels = c_.dims({"conv_kernel"});
    const Bias bias = c_.bias({"conv_bias"}, false);
    const auto scale = [](std::string_view class_name, Size dim) {
      return in("layer_norm", class_name,
                tensor("weight", {dim}, Role::norm) + tensor("bias", {dim}, Role::norm));
    };
    return list(
        "conv_layers", static_cast<Size>(dims_.size()), [&](const std::string& name, Size i) {
          const auto at = static_cast<std::size_t>(i);
          const Part conv = convolution("conv", "Conv1d",
                                        {dims_[at], i == 0 ? 1 : dims_[at - 1], kernels[at]}, bias);
          const Part act = module("activation", front_act_);
          if (norm == "layer")
            return in(name, k("LayerNormConvLayer"), conv + scale("LayerNorm", dims_[at]) + act);
          return i == 0
                     ? in(name, k("GroupNormConvLayer"), conv + act + scale("GroupNorm", dims_[at]))
                     : in(name, k("NoLayerNormConvLayer"), conv + act);
        });
  }

  Part projection() const {
    const bool normed = !is("Hubert") || c_.flag({"feat_proj_layer_norm"}, true);
    return in("feature_projection", k("FeatureProjection"),
              (normed ? layer_norm("layer_norm", last_conv()) : Part{}) +
                  linear("projection", last_conv(), hidden_, Bias::yes) + dropout());
  }

  /// A convolution over neighbouring frames replaces positions. Its weight is stored as a length
  /// and a direction (weight norm), or a batch norm comes with it.
  Part positions() const {
    const Size width = c_.dim({"num_conv_pos_embeddings"}, 128);
    const Size groups = c_.dim({"num_conv_pos_embedding_groups"}, 16);
    if (hidden_ % groups != 0)
      c_.fail("num_conv_pos_embedding_groups", "expected a divisor of hidden_size");
    const Shape weight{hidden_, hidden_ / groups, width};
    const Part conv = is("Hubert") && c_.flag({"conv_pos_batch_norm"}, false)
                          ? convolution("conv", "Conv1d", weight, Bias::yes) +
                                batch_norm("batch_norm", "BatchNorm1d", hidden_)
                          : in("conv", "ParametrizedConv1d",
                               tensor("bias", {hidden_}, Role::bias) +
                                   in("parametrizations", "ModuleDict",
                                      in("weight", "ParametrizationList",
                                         tensor("original0", {1, 1, width}, Role::other) +
                                             tensor("original1", weight, Role::conv) +
                                             module("0", "_WeightNorm"))));
    return in("pos_conv_embed", k("PositionalConvEmbedding"),
              conv + module("padding", k("SamePadLayer")) + module("activation", front_act_));
  }

  Part attention(Size layer) const {
    const Size heads = c_.dim({"num_attention_heads"});
    Part p;
    if (is("WavLM")) p = tensor("gru_rel_pos_const", {1, heads, 1, 1}, Role::other);
    for (const auto name : {"k_proj", "v_proj", "q_proj", "out_proj"})
      p = std::move(p) + linear(name, hidden_, hidden_, Bias::yes);
    if (!is("WavLM")) return p;
    p = std::move(p) + linear("gru_rel_pos_linear", hidden_ / heads, 8, Bias::yes);
    return layer == 0
               ? std::move(p) + embedding("rel_attn_embed", c_.dim({"num_buckets"}, 320), heads)
               : p;
  }

  Part block(Size layer) const {
    const Size inner = c_.dim({"intermediate_size"});
    const Size adapted = is("Wav2Vec2") || is("UniSpeech") || is("UniSpeechSat")
                             ? c_.dim_or_none({"adapter_attn_dim"}, 0)
                             : 0;
    return in("attention", k("Attention"), attention(layer)) + dropout() +
           layer_norm("layer_norm", hidden_) +
           in("feed_forward", k("FeedForward"),
              dropout("intermediate_dropout") +
                  linear("intermediate_dense", hidden_, inner, Bias::yes) +
                  module("intermediate_act_fn", activation_class(c_, {"hidden_act"}, "gelu")) +
                  linear("output_dense", inner, hidden_, Bias::yes) + dropout("output_dropout")) +
           layer_norm("final_layer_norm", hidden_) +
           (stable_ && adapted > 0
                ? in("adapter_layer", k("AttnAdapterLayer"),
                     layer_norm("norm", hidden_) + linear("linear_1", hidden_, adapted, Bias::yes) +
                         module("act_fn", "ReLU") + linear("linear_2", adapted, hidden_, Bias::yes))
                : Part{});
  }

  Part encoder() const {
    const std::string suffix = stable_ ? "StableLayerNorm" : "";
    Part p = positions() + layer_norm("layer_norm", hidden_) + dropout() +
             stack("layers", k("EncoderLayer") + suffix, c_.dim({"num_hidden_layers"}),
                   [&](Size i) { return block(i); });
    if (is("Hubert")) p = unsplittable(std::move(p), {k("EncoderLayer"), "ParametrizedConv1d"});
    return in("encoder", k("Encoder") + suffix, std::move(p));
  }

  Part adapter() const {
    Part p;
    if (out() != hidden_)
      p = linear("proj", hidden_, out(), Bias::yes) + layer_norm("proj_layer_norm", out());
    return std::move(p) +
           list("layers", c_.dim({"num_adapter_layers"}, 3), [&](const std::string& name, Size) {
             return in(
                 name, k("AdapterLayer"),
                 convolution("conv", "Conv1d",
                             {2 * out(), out(), c_.dim({"adapter_kernel_size"}, 3)}, Bias::yes));
           });
  }

  const Config& c_;
  Family family_;
  Size hidden_;
  bool stable_;
  std::vector<Size> dims_;
  std::string front_act_;
};

/// x-vectors: layers over neighbouring frames. The loss holds the weights of the speakers.
Part speaker_head(const Config& c) {
  const auto dims = c.dims({"tdnn_dim"}), kernels = c.dims({"tdnn_kernel"});
  if (dims.empty() || kernels.size() != dims.size())
    c.fail("tdnn_dim", "expected a list as long as tdnn_kernel, at least one");
  const Size out = c.dim({"xvector_output_dim"}, 512);
  return linear("projector", c.dim({"hidden_size"}), dims.front(), Bias::yes) +
         list("tdnn", static_cast<Size>(dims.size()),
              [&](const std::string& name, Size i) {
                const auto at = static_cast<std::size_t>(i);
                const Size from = dims[i == 0 ? 0 : at - 1];
                return in(name, "TDNNLayer",
                          linear("kernel", times({from, kernels[at]}), dims[at], Bias::yes) +
                              module("activation", "ReLU"));
              }) +
         linear("feature_extractor", 2 * dims.back(), out, Bias::yes) +
         linear("classifier", out, out, Bias::yes) +
         in("objective", "AMSoftmaxLoss",
            tensor("weight", {out, labels(c)}, Role::matmul) + module("loss", "CrossEntropyLoss"));
}

/// Source: transformers 5.23, models/{wav2vec2,hubert,wavlm,unispeech,unispeech_sat}.
Part wav2vec2(const Config& c) {
  const Speech speech(c);
  if (is_for(c, "Model")) return speech.body();
  const Size hidden = c.dim({"hidden_size"});
  Part p;
  if (!is_for(c, "ForCTC") && !is_for(c, "ForPreTraining") &&
      c.flag({"use_weighted_layer_sum"}, false))
    p = tensor("layer_weights", {c.dim({"num_hidden_layers"}) + 1}, Role::other);
  p = std::move(p) + speech.named_body();
  if (is_for(c, "ForCTC"))
    return std::move(p) + dropout() +
           output_head("lm_head", speech.out(), c.dim({"vocab_size"}), Bias::yes);
  if (is_for(c, "ForXVector")) return std::move(p) + speaker_head(c);
  if (is_for(c, "ForAudioFrameClassification"))
    return std::move(p) + linear("classifier", hidden, labels(c), Bias::yes);
  if (is_for(c, "ForSequenceClassification")) {
    const Size projected = c.dim({"classifier_proj_size"}, 256);
    return std::move(p) + linear("projector", hidden, projected, Bias::yes) +
           linear("classifier", projected, labels(c), Bias::yes);
  }
  const Size groups = c.dim({"num_codevector_groups"}, 2), dim = c.dim({"codevector_dim"}, 256);
  const Size codes = groups * c.dim({"num_codevectors_per_group"}, 320);
  const Size shared = c.dim({"proj_codevector_dim"}, 256);
  return std::move(p) + dropout("dropout_features") +
         in("quantizer", speech.k("GumbelVectorQuantizer"),
            tensor("codevectors", {1, codes, dim / groups}, Role::other) +
                linear("weight_proj", speech.last_conv(), codes, Bias::yes)) +
         linear("project_hid", hidden, shared, Bias::yes) +
         linear("project_q", dim, shared, Bias::yes);
}

}  // namespace headroom::model::families::wav2vec2
