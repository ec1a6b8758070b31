// Sums over a Part, in elements. Formulas turn them into bytes and FLOPs. Computed once per model.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/describe/blocks/blocks.hpp"
#include "model/describe/part.hpp"
#include "model/describe/repeats.hpp"

namespace headroom::model {

/// Elements by what a forward pass does with them. A tied tensor counts once, with its owner. A
/// tied matrix counts as `matmul` in every layer that uses it.
struct Sums {
  Size parameters = 0;       ///< all trained elements
  Size matmul = 0;           ///< dense matrices that multiply every token, without the head
  Size routed = 0;           ///< matrices and biases of all experts
  double routed_active = 0;  ///< share of them that multiplies one token: routed * used / of
  Size embedding = 0;        ///< looked up, not multiplied
  Size buffers = 0;
};

/// One layer. Layers are in registration order, which is the order of execution within a stack.
struct Layer {
  std::string path;
  bool decodes = false;  ///< its stack keeps a cache, so it runs for each output token
  /// The stacks that it is numbered with: "vision", "audio", "projector", "encoder", "other".
  /// Empty: the decoder's, or all where nothing decodes.
  std::string_view stack{};
  Size number = 0;  ///< among the layers with its `stack`, from 0 on
  Size passes = 1;  ///< times that a token runs through it in one forward pass
  Sums sums{};
  Routing routing{0, 0};  ///< experts and how many of them a token uses; {0, 0}: dense
  double widest = 0;      ///< live activation elements per token of its widest submodule
  Size kernels = 0;       ///< launched in one run, without those of routed experts: see kernels_of
  Size matrices = 0;      ///< kernels that multiply matrices
};

/// Caches of one kind and window. Each list holds prefix sums: entry n is the sum over the first n
/// layers.
struct CacheClass {
  CacheKind kind;
  Size window;                         ///< tokens; 0 = whole context
  Size picked;                         ///< most cached tokens that attention reads; 0 = all
  Size kv_heads;                       ///< heads that tensor parallelism may split; 0 = none
  Size entry_elements;                 ///< elements of one entry
  Size entry_tokens;                   ///< tokens of one entry, where entries are compressed
  Size entry_bytes;                    ///< an entry in the format of its own kernels; 0: none
  Size sm100_entry_bytes;              ///< as Cache::sm100_entry_bytes
  Size page_tokens;                    ///< as Cache::page_tokens
  Size layers;                         ///< number of layers that keep such a cache
  std::vector<Size> per_token_before;  ///< elements per token
  std::vector<Size> expanded_before;   ///< elements per token where MLA's K and V are expanded
  std::vector<Size> padded_before;     ///< … in heads of a power of two
  std::vector<Size> twice_before;   ///< elements per token where MLA's values are stored a second
                                    ///< time, or an indexer's keys have values as wide
  std::vector<Size> values_before;  ///< values among per_token_before
  std::vector<Size> expanded_values_before;  ///< values among expanded_before
  std::vector<Size> second_values_before;    ///< values that twice_before adds to per_token_before
  std::vector<Size> state_before;            ///< recurrent state elements per sequence
  std::vector<Size> carried_before;  ///< … without the newest token's input of convolutions
  std::vector<Size> scanned_before;  ///< elements that scans carry on, included in these
  std::vector<Size> fp32_before;     ///< elements that the config keeps in fp32, included in these
  std::vector<Size> score_dims_before;  ///< 2 FLOPs per dim per cached token
};

struct Profile {
  Size parameters = 0;         ///< a tied tensor counts once
  Size parameters_untied = 0;  ///< a tied tensor counts each time
  /// Read for one token of text, with routers, shared experts and the whole token embedding. Only
  /// the rows read of other tables count. Towers and projectors count where nothing decodes.
  Size parameters_active = 0;
  Size embedding_parameters = 0;
  Size buffers = 0;
  bool tied_head = false;
  bool compressed = false;  ///< some keys and values have one entry for several tokens
  bool pooled = false;      ///< those, or keys of an indexer, have one
  bool generative = false;  ///< some stack keeps a cache, so the model decodes
  /// The layers [first, end) run for each output token. Encoders and towers stand before them; in
  /// some models towers and speech decoders stand after them.
  Size first_decoding = 0, end_decoding = 0;
  std::vector<Layer> layers;
  Repeats repeats;  ///< the layer of each tensor, and which layers are equal
  std::vector<CacheClass> caches;
  Sums outside;            ///< outside the layers: embeddings, final norm, head
  Size head_elements = 0;  ///< the output projection, tied or not
  Size head_rows = 0;      ///< its width: logits per position
  double widest = 0;       ///< the widest of all layers
  double graph_width = 0;  ///< GraphWidth of the widest layer that decodes, of all in encoders
  // Prefix sums for estimates of time: entry n is the sum over the first n layers.
  std::vector<double> multiplied_before;  ///< matrix elements that multiply one token
  std::vector<double> routed_before;      ///< share of experts in them
  std::vector<Size> passes_before;        ///< runs of layers in one forward pass
  std::vector<Size> kernels_before;       ///< kernels of those runs, without routed experts
  std::vector<Size> matrices_before;      ///< kernels that multiply matrices
  std::vector<Size> mixtures_before;      ///< runs that route to experts
  std::vector<Size> decoding_before;      ///< layers that run for each output token
  Routing routing{0, 0};                  ///< routing of the first routed layer

  /// The layers [first, second) that images go through.
  std::pair<Size, Size> towers() const {
    if (first_decoding > 0) return {0, first_decoding};
    return {end_decoding, static_cast<Size>(layers.size())};
  }
};

/// For a part that has other tensors than `profile` was made of, in the same layers.
Repeats repeats_of(const Part& part, const Profile& profile);

/// Kernels that a layer launches besides one for each matrix and norm, by the cache that it keeps:
///
///   attention   rotation, cache write, scores
///   latent      the same, two products with the matrices that expand it, two copies
///   recurrent   convolution, scan, gate
///   indexer     rotation, cache write, scores, choice of tokens
///
/// Engines fuse some and split others (q, k and v; activations). The cost per kernel of an engine
/// was fitted with that in it.
/// Source: vLLM 0.19 model_executor/models and layers.
Size kernels_of(CacheKind kind);

/// `hidden`: width of the residual stream. A matrix of n elements has n / hidden on its other side.
Profile profile_of(const Part& part, Size hidden);

}  // namespace headroom::model
