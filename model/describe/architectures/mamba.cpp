// Mamba (arXiv:2312.00752), Falcon Mamba (arXiv:2410.05355) and Mamba-2 (arXiv:2405.21060).
#include "model/describe/activation_function.hpp"
#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::mamba {

/// The class's children: blocks of one norm and one mixer.
Part backbone(const Config& c, Classes k, const Part& mixer, bool tied) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  return in("backbone", k("Model"),
            embedding("embeddings", vocab, hidden) +
                stack("layers", k("Block"), c.dim({"num_hidden_layers"}),
                      [&] {
                        return rms_norm("norm", k("RMSNorm"), hidden) +
                               in("mixer", k("Mixer"), mixer);
                      }) +
                rms_norm("norm_f", k("RMSNorm"), hidden)) +
         lm_head("backbone.embeddings.weight", vocab, hidden,
                 c.flag({"tie_word_embeddings"}, tied));
}

/// The class derives `intermediate_size` from `expand`. A key of that name in the file then
/// replaces it: falcon-mamba-7b states expand 16 and intermediate_size 8192. Source: transformers
/// 5.23, configuration_{mamba,falcon_mamba}.py, configuration_utils.py ("Additional attributes
/// without default values").
Mamba mamba_of(const Config& c) {
  return {.inner = c.dim({"intermediate_size"}, expanded(c, c.dim({"hidden_size"}))),
          .state = c.dim({"state_size"}, 16),
          .kernel = c.dim({"conv_kernel"}, 4),
          .rank = time_step_rank(c, {"time_step_rank"}),
          .conv_bias = c.bias({"use_conv_bias"}, true),
          .bias = c.bias({"use_bias"}, false)};
}

/// Source: transformers 5.23, models/mamba.
Part mamba(const Config& c) {
  const Classes k{"Mamba"};
  const Part mixer =
      mamba_mixer(c.dim({"hidden_size"}), mamba_of(c), activation_class(c, {"hidden_act"}, "silu"));
  return unsplittable(backbone(c, k, mixer, true), {k("Block"), k("Mixer")});
}

/// Source: transformers 5.23, models/falcon_mamba. The norms of time step, B and C have no weights.
/// A buffer of ones stands in for each.
Part falcon_mamba(const Config& c) {
  const Classes k{"FalconMamba"};
  const Mamba m = mamba_of(c);
  const auto weightless = [&](std::string_view name, Size dim) {
    return in(name, k("WeightlessRMSNorm"), buffer("weight", {dim}));
  };
  const Part mixer =
      mamba_mixer(c.dim({"hidden_size"}), m, activation_class(c, {"hidden_act"}, "silu")) +
      weightless("dt_layernorm", m.inner) + weightless("b_layernorm", m.state) +
      weightless("c_layernorm", m.state);
  return unsplittable(backbone(c, k, mixer, true), {k("Block"), k("Mixer")});
}

/// Source: transformers 5.23, models/mamba2.
Part mamba2(const Config& c) {
  const Classes k{"Mamba2"};
  const Size hidden = c.dim({"hidden_size"});
  const Mamba2 m{.inner = expanded(c, hidden),
                 .heads = c.dim({"num_heads"}, 128),
                 .dim = c.dim({"head_dim"}, 64),
                 .groups = c.dim({"n_groups"}, 8),
                 .state = c.dim({"state_size"}, 128),
                 .kernel = c.dim({"conv_kernel"}, 4),
                 .conv_bias = c.bias({"use_conv_bias"}, true),
                 .bias = c.bias({"use_bias"}, false)};
  return unsplittable(backbone(c, k,
                               mamba2_mixer(hidden, m, "MambaRMSNormGated",
                                            activation_class(c, {"hidden_act"}, "silu")),
                               false),
                      {k("Block")});
}

}  // namespace headroom::model::families::mamba
