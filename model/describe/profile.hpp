// The sums of a Part that any formula needs, in elements: no bytes, no precision. Computed once per
// model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/describe/blocks/blocks.hpp"
#include "model/describe/part.hpp"

namespace headroom::model {

/// Elements by the way they take part in a forward pass. Tied tensors count once, with their owner,
/// except that a matrix multiplies wherever it stands.
struct Sums {
  Size parameters = 0;  ///< all trained elements
  Size matmul = 0;      ///< dense matrices that every token is multiplied by, the head excepted
  Size routed = 0;      ///< matrices and biases of all experts
  double routed_active = 0;  ///< of them, what one token is multiplied by: routed * used / of
  Size embedding = 0;        ///< looked up, not multiplied
  Size buffers = 0;
};

/// One repeated block, in registration order, which is the order of execution within a stack.
struct Layer {
  std::string path;
  bool decodes = false;  ///< belongs to a stack that keeps a cache: runs per output token
  Size passes = 1;       ///< times that a token runs through it in one forward pass
  Sums sums{};
  Routing routing{0, 0};  ///< experts and how many of them a token uses; {0, 0}: dense
  double widest = 0;      ///< live activation elements per token of its widest submodule
  Size kernels = 0;       ///< of one run, those of routed experts left out: see kernels_of
  Size matrices = 0;      ///< of them, products of matrices
};

/// Caches of one kind and window over all layers, as prefix sums: `before[n]` is the sum over the
/// first n layers.
struct CacheClass {
  CacheKind kind;
  Size window;                          ///< tokens; 0 = whole context
  Size picked;                          ///< kept tokens that are looked at, at most; 0 = all
  Size kv_heads;                        ///< heads that tensor parallelism may split; 0 = none
  Size layers;                          ///< that keep such a cache
  std::vector<Size> per_token_before;   ///< elements per token
  std::vector<Size> expanded_before;    ///< elements per token with MLA's K and V expanded
  std::vector<Size> twice_before;       ///< elements per token with a latent's values held again
  std::vector<Size> state_before;       ///< recurrent state elements per sequence
  std::vector<Size> score_dims_before;  ///< 2 FLOPs per dim per cached token
};

struct Profile {
  Size parameters = 0;         ///< tied ones once
  Size parameters_untied = 0;  ///< tied ones each time
  Size parameters_active =
      0;  ///< touched by one token; embeddings, routers, shared experts counted
  Size embedding_parameters = 0;
  Size buffers = 0;
  bool tied_head = false;
  bool generative = false;  ///< some stack keeps a cache: there is something to decode
  /// Layers from the first on to before the end run per output token: encoders and towers are
  /// before them, or towers and what speaks after them.
  Size first_decoding = 0, end_decoding = 0;
  std::vector<Layer> layers;
  std::vector<CacheClass> caches;
  Sums outside;            ///< everything outside the layers: embeddings, final norm, head
  Size head_elements = 0;  ///< the output projection, whether or not it owns its storage
  Size head_rows = 0;      ///< its width: logits per position
  double widest = 0;       ///< the widest of all layers
  // Prefix sums over the layers that speed needs; [n] is the sum over the first n layers.
  std::vector<double> multiplied_before;  ///< matrix elements one token is multiplied by
  std::vector<double> routed_before;      ///< of them, those of experts
  std::vector<Size> passes_before;        ///< runs of them in one forward pass
  std::vector<Size> kernels_before;       ///< kernels of those runs, of routed experts left out
  std::vector<Size> matrices_before;      ///< of those kernels, how many are products of matrices
  std::vector<Size> mixtures_before;      ///< of those runs, how many route to experts
  std::vector<Size> decoding_before;      ///< how many of them run per output token
  Routing routing{0, 0};                  ///< of the first routed layer

  /// The first of the layers that images go through, and the one after the last of them.
  std::pair<Size, Size> towers() const {
    if (first_decoding > 0) return {0, first_decoding};
    return {end_decoding, static_cast<Size>(layers.size())};
  }
};

/// The block of each tensor of the part, or on which side of the decoding blocks it is:
/// embeddings, and what is registered before the first of them, or all else outside the blocks.
inline constexpr Size before_blocks = -1, after_blocks = -2;
std::vector<Size> blocks_of(const Part& part, const Profile& profile);

/// Kernels of a layer beside one for each matrix and each norm of it, by the cache that it keeps:
/// of attention the rotation, the write and the scores; of a latent also two products of the heads
/// with what expands it, and two copies; of a recurrent state the convolution, the scan and the
/// gate; of an indexer the rotation, the write, the scores and the choice. Engines fuse some and
/// split others (q, k and v; activations): what is left of that is in what a kernel costs them.
/// Source: vLLM 0.19 model_executor/models and layers.
Size kernels_of(CacheKind kind);

/// `hidden`: width of the residual stream, which turns matrix elements into activation widths.
Profile profile_of(const Part& part, Size hidden);

}  // namespace headroom::model
