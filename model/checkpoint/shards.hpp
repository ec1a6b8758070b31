// How the cards of a tensor-parallel group divide a model's weights. Each tensor is classified by
// role, name and shape, and bytes are summed by class.
#pragma once

#include <functional>
#include <vector>

#include "hardware/units.hpp"
#include "model/describe/layer_range.hpp"

namespace headroom::model {

/// Bytes by how they are divided.
struct Divided {
  Bytes everywhere{};  ///< whole on each card: norms, routers, MLA's down-projections, row biases
  Bytes split{};       ///< one part on each card
  Bytes heads{};       ///< keys and values: by head, repeated if there are more cards than heads
  Bytes experts{};     ///< routed: each expert divided, or whole experts spread
  Bytes vocabulary{};  ///< rows of the embedding and the head, padded before the division
  Bytes rows{};        ///< tables in layers, of which a token looks up a few rows
  /// Bytes among split and heads, and among experts, of which a card's part is a piece of every row
  /// of the file's tensor.
  Bytes strided{}, strided_experts{};
  Bytes feed_forward{};  ///< bytes among split, of feed-forwards that are not routed
  Bytes shared{};        ///< bytes among feed_forward, of experts that every token uses
  Bytes attention{};     ///< bytes among split, of queries and outputs by head of the cache
  /// Bytes in 16 bit of matrices that expand MLA's latent, quantised or not. They are among split
  /// or heads as they are stored.
  Bytes expands_packed{}, expands_plain{};

  friend Divided operator+(const Divided& a, const Divided& b) { return each(a, b, std::plus{}); }
  friend Divided operator-(const Divided& a, const Divided& b) { return each(a, b, std::minus{}); }
  template <class F>
  static Divided each(const Divided& a, const Divided& b, F f) {
    return {f(a.everywhere, b.everywhere),
            f(a.split, b.split),
            f(a.heads, b.heads),
            f(a.experts, b.experts),
            f(a.vocabulary, b.vocabulary),
            f(a.rows, b.rows),
            f(a.strided, b.strided),
            f(a.strided_experts, b.strided_experts),
            f(a.feed_forward, b.feed_forward),
            f(a.shared, b.shared),
            f(a.attention, b.attention),
            f(a.expands_packed, b.expands_packed),
            f(a.expands_plain, b.expands_plain)};
  }
  Bytes sum() const { return everywhere + split + heads + experts + vocabulary + rows; }
};

/// Padding of routed experts in MXFP4 by an engine's kernels.
struct ExpertPadding {
  /// multiples for a card's part of the inner width, and for the hidden width
  Size inner_multiple = 1, hidden_multiple = 1;
  bool scales_twice = false;
};

/// A card's place among the cards that divide the matrices of a stage.
struct Rank {
  Size cards = 1;         ///< tensor-parallel cards
  Size expert_cards = 1;  ///< cards that divide the experts: `cards`, × replicas that share them
  Size dense_cards = 0;   ///< cards that divide feed-forwards and the output; 0: `cards`
  /// expert parallelism: groups with whole experts, each divided by the cards of its group
  Size expert_groups = 1;
  Size vocabulary_multiple = 1;  ///< the vocabulary is padded to this multiple
  Size index = 0;                ///< among `expert_cards`
  /// Parts of feed-forwards end at multiples of this, and of their format's block; 0: parts are
  /// even
  Size part_multiple = 0;
  bool shared_whole = false;  ///< each card has all of the shared experts
  ExpertPadding padding{};
  Size dense() const { return dense_cards > 0 ? dense_cards : cards; }
};

/// Sizes that `cards` must divide. 0: nothing to divide.
struct Divisors {
  Size widths = 0;                            ///< greatest common divisor of the divided dimensions
  Size groups = 0;                            ///< as above, in quantisation groups
  Size expert_widths = 0, expert_groups = 0;  ///< as above, for experts
  static bool fit(Size divisor, Size cards) { return divisor % cards == 0; }
};

/// A width that cards divide, and the elements of a block of its matrix: a part has whole blocks.
struct DividedWidth {
  Size width = 0, block = 1;
};

/// The largest part of `width` on `cards`, as a multiple of an even one, if all parts but the last
/// end at a multiple of `unit`, rounded down. llama.cpp of 2026-10 src/llama-model.cpp
/// llama_meta_device_get_split_state. It gives the remainders to other cards in each layer, so that
/// the cards hold alike. Cards wait for each other twice a layer, so the largest part counts.
double largest_part(Size width, Size unit, Size cards);

/// A quantised model, by how its tensors are divided. Computed once, with QuantisedModel.
///
/// Source: vLLM 0.19 model_executor/layers/linear.py (Column-, Row-, QKV- and ReplicatedLinear),
/// vocab_parallel_embedding.py, fused_moe/config.py and layer.py; Megatron-LM, arXiv:1909.08053. If
/// whole experts do not divide evenly, the first groups hold one more (vLLM 0.19 fused_moe/layer.py
/// determine_expert_map). Scales and zero points are divided with their matrix. Left out: redundant
/// copies of experts, data that kernels repack or duplicate, and repeated groups of recurrent
/// mixers.
struct Shards {
  Divided embedding, head;      ///< outside the layers, as in QuantisedModel
  std::vector<Divided> before;  ///< prefix sums over the layers: [0] = 0, [n] = the first n layers
  Size vocabulary = 0;          ///< rows of the output and of the token embedding
  Size kv_heads = 0;            ///< the fewest of any attention layer; 0: none
  Size experts = 0;             ///< in a routed layer
  /// Widths of experts in MXFP4, which kernels pad. 0: not in MXFP4.
  Size mxfp4_inner = 0, mxfp4_hidden = 0;
  Divisors divisors;
  DividedWidth expert_width, feed_forward_width;  ///< the first such layer has them; 0: none

  Divided layers(Size first, Size last) const { return between(before, {first, last}); }
  /// Divided::rows of those layers.
  Bytes rows(Size first, Size last) const {
    return before[static_cast<std::size_t>(last)].rows -
           before[static_cast<std::size_t>(first)].rows;
  }
  /// Rows of the vocabulary including padding.
  Size padded_vocabulary(Size multiple) const { return round_up(vocabulary, multiple); }
  /// Bytes of `whole` on one card, rounded up.
  Bytes of_rank(const Divided& whole, const Rank& rank) const;
  /// Bytes that the card with the most of each layer has, without experts and vocabulary. Left out:
  /// recurrent mixers in unlike parts.
  RealBytes most_of_rank(const Divided& whole, const Rank& rank) const;
  /// The largest part of the experts, as a multiple of an even one.
  double uneven_experts(const Rank& rank) const;
  /// As above, of the output.
  Bytes head_of_rank(const Rank& rank) const;
  /// Bytes of the experts alone on one card. In MXFP4 a card's part of the inner width is whole
  /// blocks of 32, and both widths are padded: bytes * part * cards / inner * padded hidden /
  /// hidden. Scales are a 17th of the bytes. Sources: OCP Microscaling Formats 1.0; ExpertTiles.
  /// Left out: biases.
  Bytes experts_of_rank(Bytes experts, const Rank& rank) const;
};

}  // namespace headroom::model
