// How the cards of a tensor-parallel group divide the weights of a model: tensor by tensor, from
// role, name and shape, summed by the way they are divided.
#pragma once

#include <vector>

#include "hardware/units.hpp"

namespace headroom::model {

/// Bytes by the way they are divided.
struct Divided {
  Bytes everywhere{};  ///< whole on each card: norms, routers, MLA's down-projections, row biases
  Bytes split{};       ///< one part for each card
  Bytes heads{};       ///< keys and values: by head, repeated where there are more cards than heads
  Bytes experts{};     ///< routed: each expert divided, or whole experts spread
  Bytes vocabulary{};  ///< rows of the embedding and the head, padded before they are divided

  friend Divided operator+(const Divided& a, const Divided& b) {
    return {a.everywhere + b.everywhere, a.split + b.split, a.heads + b.heads,
            a.experts + b.experts, a.vocabulary + b.vocabulary};
  }
  friend Divided operator-(const Divided& a, const Divided& b) {
    return {a.everywhere - b.everywhere, a.split - b.split, a.heads - b.heads,
            a.experts - b.experts, a.vocabulary - b.vocabulary};
  }
  Bytes sum() const { return everywhere + split + heads + experts + vocabulary; }
};

/// To what an engine's kernels pad routed experts in MXFP4.
struct ExpertPadding {
  Size inner_multiple = 1, hidden_multiple = 1;  ///< a card's part of the inner width; the other
  bool scales_twice = false;
};

/// One card's place among those that divide the matrices of a stage.
struct Rank {
  Size cards = 1;          ///< that divide each matrix (tensor parallelism)
  Size expert_cards = 1;   ///< that divide the experts: `cards`, × replicas that share them
  Size expert_groups = 1;  ///< expert parallelism: groups with whole experts of their own, each
                           ///< divided by the cards of its group
  Size vocabulary_multiple = 1;  ///< the vocabulary is padded to a multiple of this
  Size index = 0;                ///< among `expert_cards`
  ExpertPadding padding{};
};

/// What `cards` must divide. 0: nothing to divide.
struct Divisors {
  Size widths = 0;  ///< greatest common divisor of the dimensions that are divided
  Size groups = 0;  ///< the same of those dimensions in quantisation groups
  Size expert_widths = 0, expert_groups = 0;  ///< of the experts
  static bool fit(Size divisor, Size cards) { return divisor % cards == 0; }
};

/// A model held in a precision, by the way that its tensors are divided. Made once, with Weights.
///
/// Source: vLLM 0.19 model_executor/layers/linear.py (Column-, Row-, QKV- and ReplicatedLinear),
/// vocab_parallel_embedding.py, fused_moe/config.py and layer.py; Megatron-LM, arXiv:1909.08053.
/// Of experts that are spread whole, the first groups hold one more where the number does not
/// divide (vLLM 0.19 fused_moe/layer.py determine_expert_map). Left out: redundant copies of them.
/// Scales and zero points count as divided with their matrix. Left out: what kernels repack or keep
/// twice (MLA's absorbed projections), recurrent mixers' groups that are repeated.
struct Shards {
  Divided embedding, head;      ///< outside the layers, as in Weights
  std::vector<Divided> before;  ///< prefix sums over the layers: [0] = 0, [n] = the first n layers
  Size vocabulary = 0;          ///< rows of the output and of the token embedding
  Size kv_heads = 0;            ///< the fewest of any attention layer; 0: none
  Size experts = 0;             ///< of a routed layer
  /// Widths of the experts where they are in MXFP4, which kernels pad; 0: they are not.
  Size mxfp4_inner = 0, mxfp4_hidden = 0;
  Divisors divisors;

  Divided layers(Size first, Size last) const {
    return before[static_cast<std::size_t>(last)] - before[static_cast<std::size_t>(first)];
  }
  /// Rows of the vocabulary with padding.
  Size padded_vocabulary(Size multiple) const {
    return (vocabulary + multiple - 1) / multiple * multiple;
  }
  /// What one card holds of `whole`, rounded up to bytes.
  Bytes of_rank(const Divided& whole, const Rank& rank) const;
  /// The same of the experts alone. In MXFP4 a card's part of the inner width is whole blocks of
  /// 32, and both widths are padded: bytes * part * cards / inner * padded hidden / hidden; scales
  /// are a 17th of the bytes. Sources: OCP Microscaling Formats 1.0; ExpertTiles. Left out: biases.
  Bytes experts_of_rank(Bytes experts, const Rank& rank) const;
};

}  // namespace headroom::model
