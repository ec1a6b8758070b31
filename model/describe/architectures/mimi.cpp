#include "model/describe/architectures/mimi.hpp"

#include <boost/json.hpp>
#include <cmath>

namespace headroom::model::families {

namespace {

const std::string k = "Mimi";

class Codec {
 public:
  explicit Codec(const Config& c)
      : c_(c),
        hidden_(c.dim({"hidden_size"}, 512)),
        first_(c.dim({"num_filters"}, 64)),
        ratios_(c.dims({"upsampling_ratios"})) {
    if (ratios_.empty()) ratios_ = {8, 6, 5, 4};
    if (ratios_.size() > 16) c.fail("upsampling_ratios", "expected at most 16");
    for (const Size ratio : ratios_)
      if (ratio < 1 || ratio > 4096) c.fail("upsampling_ratios", "expected numbers from 1 on");
  }

  Part parts() const {
    return in("encoder", k + "EncoderModel",
              in("encoder_seanet", k + "Encoder", down()) + transformer("encoder_transformer") +
                  downsample()) +
           in("decoder", k + "DecoderModel",
              upsample() + transformer("decoder_transformer") +
                  in("decoder_seanet", k + "Decoder", up())) +
           in("quantizer", k + "SplitResidualVectorQuantizer",
              quantizer("semantic_residual_vector_quantizer",
                        c_.dim({"num_semantic_quantizers"}, 1)) +
                  quantizer(
                      "acoustic_residual_vector_quantizer",
                      c_.dim({"num_quantizers"}, 32) - c_.dim({"num_semantic_quantizers"}, 1)));
  }

 private:
  Size levels() const { return static_cast<Size>(ratios_.size()); }

  Part conv(std::string_view name, Size from, Size to, Size kernel, Bias bias = Bias::yes) const {
    return in(name, k + "Conv1d",
              buffer("stride", {}, Element::int64) + buffer("kernel_size", {}, Element::int64) +
                  buffer("padding_total", {}, Element::int64) +
                  convolution("conv", "Conv1d", {to, from, kernel}, bias));
  }
  Part transposed(std::string_view name, Size from, Size to, Size kernel, Size groups,
                  Bias bias) const {
    Part p = tensor("weight", {from, to / groups, kernel}, Role::conv);
    if (bias == Bias::yes) p = std::move(p) + tensor("bias", {to}, Role::bias);
    return in(name, k + "ConvTranspose1d", in("conv", "ConvTranspose1d", std::move(p)));
  }
  Part residual(std::string_view name, Size width) const {
    const Size inner = width / c_.dim({"compress"}, 2);
    if (inner < 1) c_.fail("compress", "leaves no channels");
    return in(name, k + "ResnetBlock",
              in("block", "ModuleList",
                 module("0", "ELU") + conv("1", width, inner, c_.dim({"residual_kernel_size"}, 3)) +
                     module("2", "ELU") + conv("3", inner, width, 1)) +
                  (c_.flag({"use_conv_shortcut"}, false) ? conv("shortcut", width, width, 1)
                                                         : module("shortcut", "Identity")));
  }

  /// Ever more channels at an ever lower rate; an activation before each change of rate.
  Part down() const {
    Part all;
    Size index = 0, width = first_;
    const auto next = [&] { return std::to_string(index++); };
    all = conv(next(), c_.dim({"audio_channels"}, 1), first_, c_.dim({"kernel_size"}, 7));
    for (Size i = levels(); i-- > 0; width *= 2) {
      for (Size j = 0; j < residuals(); ++j) all = std::move(all) + residual(next(), width);
      all = std::move(all) + module(next(), "ELU");
      all =
          std::move(all) + conv(next(), width, 2 * width, 2 * ratios_[static_cast<std::size_t>(i)]);
    }
    all = std::move(all) + module(next(), "ELU");
    all = std::move(all) + conv(next(), width, hidden_, c_.dim({"last_kernel_size"}, 3));
    return in("layers", "ModuleList", std::move(all));
  }
  Part up() const {
    Part all;
    Size index = 0, width = first_ << levels();
    const auto next = [&] { return std::to_string(index++); };
    all = conv(next(), hidden_, width, c_.dim({"kernel_size"}, 7));
    for (Size i = 0; i < levels(); ++i, width /= 2) {
      all = std::move(all) + module(next(), "ELU");
      all = std::move(all) + transposed(next(), width, width / 2,
                                        2 * ratios_[static_cast<std::size_t>(i)], 1, Bias::yes);
      for (Size j = 0; j < residuals(); ++j) all = std::move(all) + residual(next(), width / 2);
    }
    all = std::move(all) + module(next(), "ELU");
    all = std::move(all) +
          conv(next(), width, c_.dim({"audio_channels"}, 1), c_.dim({"last_kernel_size"}, 3));
    return in("layers", "ModuleList", std::move(all));
  }
  Size residuals() const {
    const Size n = c_.dim({"num_residual_layers"}, 1);
    if (n > most_layers) c_.fail("num_residual_layers", "more than are supported");
    return n;
  }

  Part transformer(std::string_view name) const {
    const Size inner = c_.dim({"intermediate_size"}, 2048);
    const Size query = c_.dim({"num_attention_heads"}, 8);
    const Heads heads{query, c_.dim({"num_key_value_heads"}, 8),
                      c_.dim({"head_dim"}, std::max<Size>(1, hidden_ / query))};
    const Bias bias = c_.bias({"attention_bias"}, false);
    const auto scale = [&](std::string_view of) {
      return in(of, k + "LayerScale", tensor("scale", {hidden_}, Role::other));
    };
    Part seeing = attention(hidden_, heads, bias, bias);
    seeing.caches.clear();  // it runs over frames of its own
    const Part layer = in("self_attn", k + "Attention", std::move(seeing)) +
                       in("mlp", k + "MLP",
                          module("activation_fn", activation_class(c_, {"hidden_act"}, "gelu")) +
                              linear("fc1", hidden_, inner) + linear("fc2", inner, hidden_)) +
                       layer_norm("input_layernorm", hidden_) +
                       layer_norm("post_attention_layernorm", hidden_) +
                       scale("self_attn_layer_scale") + scale("mlp_layer_scale");
    return in(name, k + "TransformerModel",
              stack("layers", k + "TransformerLayer", c_.dim({"num_hidden_layers"}, 8), [&](Size) {
                return layer;
              }) + rotary(k + "RotaryEmbedding", heads.dim));
  }

  /// Frames a second that the convolutions leave, over those that the codec writes.
  Size fewer() const {
    const Size rate = c_.dim({"sampling_rate"}, 24000);
    Size hop = 1;
    for (const Size ratio : ratios_) hop = times({hop, ratio});
    const double frames = std::ceil(static_cast<double>(rate) / static_cast<double>(hop));
    const double wanted = c_.number({"frame_rate", "_frame_rate"},
                                    static_cast<double>(rate) / static_cast<double>(2 * hop));
    return static_cast<Size>(frames) == wanted ? 1 : static_cast<Size>(frames / wanted);
  }
  Part downsample() const {
    return fewer() == 1 ? Part{} : conv("downsample", hidden_, hidden_, 2 * fewer(), Bias::no);
  }
  Part upsample() const {
    const Size groups = c_.dim({"upsample_groups"}, 512);
    if (hidden_ % groups != 0) c_.fail("upsample_groups", "expected a divisor of hidden_size");
    return fewer() == 1 ? Part{}
                        : transposed("upsample", hidden_, hidden_, 2 * fewer(), groups, Bias::no);
  }

  Part quantizer(std::string_view name, Size books) const {
    const Size size = c_.dim({"codebook_size"}, 2048), dim = c_.dim({"codebook_dim"}, 256);
    const Size inner = c_.dim({"vector_quantization_hidden_dimension"}, 256);
    const Part book = in("codebook", k + "EuclideanCodebook",
                         buffer("initialized", {1}, Element::floating, true) +
                             buffer("cluster_usage", {size}, Element::floating, true) +
                             buffer("embed_sum", {size, dim}, Element::floating, true));
    if (books < 1) c_.fail("num_quantizers", "expected more than num_semantic_quantizers");
    Part p = list("layers", books, [&](const std::string& each, Size) {
      return in(each, k + "VectorQuantization", book);
    });
    if (inner != hidden_)
      p = std::move(p) + convolution("input_proj", "Conv1d", {inner, hidden_, 1}) +
          convolution("output_proj", "Conv1d", {hidden_, inner, 1});
    return in(name, k + "ResidualVectorQuantizer", std::move(p));
  }

  const Config& c_;
  Size hidden_, first_;
  std::vector<Size> ratios_;
};

}  // namespace

/// Source: transformers 5.23, models/mimi/{configuration,modeling}_mimi.py.
Submodel mimi(const Config& c) {
  return {
      k + "Model",
      unsplittable(Codec(c).parts(), {k + "TransformerLayer", k + "SplitResidualVectorQuantizer"}),
      c.dim({"hidden_size"}, 512)};
}

}  // namespace headroom::model::families
