#include "model/describe/architectures/vibevoice_tokenizer.hpp"

namespace headroom::model::families {

namespace {

const std::string k = "VibeVoiceAcousticTokenizer";

/// A convolution that sees only the past, with `seen` input channels for each output channel.
Part causal(std::string_view name, Size seen, Size to, Size kernel) {
  return in(name, k + "CausalConv1d", convolution("conv", "Conv1d", {to, seen, kernel}, Bias::yes));
}

/// ConvNeXt's layer over time: a depthwise convolution and a feed-forward.
Part stage(const Config& a, Size width, Size depth) {
  const Size inner = times({a.dim({"ffn_expansion"}, 4), width});
  const std::string act = activation_class(a, {"hidden_act"}, "gelu");
  return list("stage", depth, [&](const std::string& name, Size) {
    return in(name, k + "ConvNext1dLayer",
              tensor("gamma", {width}, Role::other) + tensor("ffn_gamma", {width}, Role::other) +
                  rms_norm("norm", k + "RMSNorm", width) +
                  rms_norm("ffn_norm", k + "RMSNorm", width) +
                  in("ffn", k + "FeedForward",
                     linear("linear1", width, inner, Bias::yes) + module("activation", act) +
                         linear("linear2", inner, width, Bias::yes)) +
                  causal("mixer", 1, width, a.dim({"kernel_size"}, 7)));
  });
}

struct Levels {
  std::vector<Size> ratios, depths;
  Size levels, first, kernel;
};
Levels levels_of(const Config& a) {
  Levels all{a.dims({"downsampling_ratios"}), a.dims({"depths"}), 0, a.dim({"num_filters"}, 32),
             a.dim({"kernel_size"}, 7)};
  all.levels = static_cast<Size>(all.ratios.size());
  if (all.levels < 1 || all.levels > 16 || all.depths.size() != all.ratios.size() + 1)
    a.fail("depths", "expected one entry more than in downsampling_ratios, which has 1 to 16");
  for (const Size ratio : all.ratios)
    if (ratio < 1) a.fail("downsampling_ratios", "expected numbers from 1 on");
  return all;
}

}  // namespace

/// Each level doubles the channels and divides the rate by its ratio. Source: transformers 5.23,
/// models/vibevoice_acoustic_tokenizer.
Submodel vibevoice_encoder(const Config& a) {
  const auto [ratios, depths, levels, first, kernel] = levels_of(a);
  const Size out = a.dim({"hidden_size"});
  const Part down = list("conv_layers", levels, [&](const std::string& name, Size i) {
    const auto at = static_cast<std::size_t>(i);
    return in(name, k + "EncoderLayer",
              causal("conv", first << i, first << (i + 1), 2 * ratios[at]) +
                  stage(a, first << (i + 1), depths[at + 1]));
  });
  return {k + "EncoderModel",
          in("stem", k + "EncoderStem",
             causal("conv", a.dim({"channels"}, 1), first, kernel) + stage(a, first, depths[0])) +
              down + causal("head", first << levels, out, kernel),
          out};
}

}  // namespace headroom::model::families
