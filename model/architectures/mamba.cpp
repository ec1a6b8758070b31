// Mamba (arXiv:2312.00752) and Mamba-2 (arXiv:2405.21060).
#include "model/activation_function.hpp"
#include "model/architectures/sparse_families.hpp"
#include "model/blocks_recurrent.hpp"

namespace headroom::model::families {
namespace {

/// Children of the class: blocks of one norm and one mixer each.
Part backbone(const Config& c, Classes k, const Part& mixer, bool tied) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  return in("backbone", k("Model"),
            embedding("embeddings", vocab, hidden) +
                stack("layers", k("Block"), c.dim({"num_hidden_layers"}),
                      [&](Size) {
                        return rms_norm("norm", k("RMSNorm"), hidden) +
                               in("mixer", k("Mixer"), mixer);
                      }) +
                rms_norm("norm_f", k("RMSNorm"), hidden)) +
         lm_head("backbone.embeddings.weight", vocab, hidden,
                 c.flag({"tie_word_embeddings"}, tied));
}

}  // namespace

/// Source: transformers 5.23, models/mamba.
Part mamba(const Config& c) {
  const Classes k{"Mamba"};
  const Size hidden = c.dim({"hidden_size"});
  const Mamba m{.inner = expanded(c, hidden),
                .state = c.dim({"state_size"}, 16),
                .kernel = c.dim({"conv_kernel"}, 4),
                .rank = time_step_rank(c, {"time_step_rank"}),
                .conv_bias = c.bias({"use_conv_bias"}, true),
                .bias = c.bias({"use_bias"}, false)};
  return unsplittable(
      backbone(c, k, mamba_mixer(hidden, m, activation_class(c, {"hidden_act"}, "silu")), true),
      {k("Block"), k("Mixer")});
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

}  // namespace headroom::model::families
