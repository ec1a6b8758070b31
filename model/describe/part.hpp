// The vocabulary in which every architecture is described.
//
// A Part lists rows for one piece of a model: its modules, their tensors, and the caches that they
// keep while decoding. Parts add (+) and nest (in). Attention, feed-forwards, mixtures and Mamba
// are ordinary functions that return a Part (model/describe/blocks/blocks.hpp). Rows are in
// registration order: a module's own parameters, then its children, then its buffers.
#pragma once

#include <boost/container/small_vector.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "hardware/units.hpp"
#include "model/describe/layer_quirks.hpp"

namespace headroom::model {

using Shape = boost::container::small_vector<Size, 3>;

/// The role of a tensor. It decides which schemes quantise it and how many FLOPs it costs.
enum class Role {
  matmul,     ///< multiplies every token (2 FLOPs per element per token)
  embedding,  ///< rows are looked up
  head,  ///< the output projection to the vocabulary: a matmul that runs where logits are wanted
  norm,
  bias,
  conv,
  other,
  buffer,  ///< not trained
};

/// Element type. No scheme converts the types other than `floating`.
enum class Element { floating, float32, int64, int32, boolean, complex64 };

struct Tensor {
  std::string name;  ///< dotted path, exactly as the reference implementation prints it
  Shape shape;       ///< as stored
  Role role;
  Size used = 1, of = 1;  ///< share of the tensor one token touches: top_k / experts
  std::string tied_to{};  ///< name of the storage owner; empty when it owns its storage
  /// The owner in the pinned reference, where the reference ties against the config (T5). Counts
  /// follow the config. Comparisons with reference placements use `as_reference`.
  std::string reference_tied_to{};
  Element element = Element::floating;
  bool persistent = true;  ///< buffers only: whether checkpoints hold it
  Size rows_read = 0;      ///< rows that one token reads of a `looked_up` table; 0: no such table
  Size elements() const;
  bool is_parameter() const { return role != Role::buffer; }
  /// Its module's path; empty for the root.
  std::string_view module() const {
    const auto dot = name.rfind('.');
    return dot == std::string::npos ? std::string_view{} : std::string_view(name).substr(0, dot);
  }
};

struct Module {
  std::string path;        ///< dotted; empty for the root
  std::string class_name;  ///< as the reference implementation names it
  Size passes = 1;         ///< times that a token runs through it in one forward pass (ALBERT)
  std::optional<NormKind> norm{};  ///< for a norm: how it computes
  LayerQuirks quirks{};            ///< for a layer: its differences from most layers
};

enum class CacheKind {
  self_attention,   ///< grows with the sequence
  cross_attention,  ///< filled once from the encoder or the image: `per_token` counts source tokens
  latent,           ///< MLA: one latent shared by all heads, not split by tensor parallelism
  recurrent,        ///< state of fixed size
  indexer,          ///< indexer keys of sparse attention, in addition to K and V
  waiting,          ///< sums in fp32 over tokens that wait for their compressed entry
};

/// The cache of one layer, in elements of the cache precision.
struct Cache {
  std::string path{};
  CacheKind kind = CacheKind::self_attention;
  Size per_token = 0;           ///< K and V (or MLA latent) elements per token
  Size values = 0;              ///< values among per_token; 0: half of attention's, no others
  Size per_sequence = 0;        ///< recurrent state elements per sequence
  Size per_step = 0;            ///< inputs of a convolution at one step, included in these
  Size scanned = 0;             ///< the state that a scan carries from token to token, included
  Size in_fp32 = 0;             ///< elements that the model's config keeps in fp32, included in
                                ///< these
  Size window = 0;              ///< sliding window (or chunk) in tokens; 0 = whole context
  Size picked = 0;              ///< most cached tokens that sparse attention reads; 0 = all
  Size score_dims = 0;          ///< heads * (qk_dim + v_dim): 2 FLOPs per dim per cached token
  Size expanded_per_token = 0;  ///< elements where K and V are kept for each query head; or 0
  Size expanded_values = 0;     ///< values among expanded_per_token of a latent
  Size padded_per_token = 0;    ///< such elements where each head has the power of two that holds K
                                ///< and V; or 0
  Size kv_heads = 0;            ///< heads that tensor parallelism may split; 0 = cannot be split
  Size entry_tokens = 1;        ///< tokens of one entry, where entries are compressed
  Size entry_bytes = 0;         ///< an entry in the format of its own kernels; 0: it has none
  Size sm100_entry_bytes = 0;   ///< … of kernels for compute capability 10.x; 0: the same
  Size page_tokens = 0;  ///< tokens of an aligned page in vLLM's pool; 0: those of its blocks

  bool operator==(const Cache&) const = default;
};

struct Part {
  std::vector<Module> modules{};
  std::vector<Tensor> tensors{};
  std::vector<Cache> caches{};
  std::vector<std::string> blocks{};    ///< paths of repeated layers, in order
  std::vector<std::string> no_split{};  ///< class names of modules that a placement must not split
};

Part operator+(Part a, Part b);

/// `part`'s rows below `scope`, without a module of that name: adds rows to a module that exists.
Part at(std::string_view scope, Part part);

/// `part` as the child module called `scope`, of class `class_name`.
Part in(std::string_view scope, std::string_view class_name, Part part);

/// `part` with a first module that a token runs through `passes` times.
Part repeated(Part part, Size passes);

/// `part` with tables of which one token reads `rows` rows each: tables of n-grams, or of rows for
/// each layer. The token embedding is none of them: model cards count it as active in full.
Part looked_up(Part part, Size rows);

/// `part` with a first module that is a norm and computes as `kind`.
Part as_norm(Part part, NormKind kind);
/// `part` with all norms of class `class_name` computing as `kind`.
Part with_norm(Part part, std::string_view class_name, NormKind kind);
/// `part` with `quirks` on all layers.
Part with_quirks(Part part, const LayerQuirks& quirks);

/// A module that owns nothing: an activation, a dropout.
Part module(std::string_view name, std::string_view class_name);

/// Most layers of a stack. A config that asks for more is broken or hostile.
inline constexpr Size most_layers = 4096;

/// An empty ModuleList called `scope` for `n` layers. Throws std::length_error beyond
/// `most_layers`.
Part empty_stack(std::string_view scope, Size n);
/// Adds `layer` to `stack` as its module `i` of `n`, which is a block.
void add_layer(Part& stack, std::string_view scope, Size n, Size i, std::string_view class_name,
               Part layer);
/// Adds `layer` to the empty `stack` as each of its `n` modules.
void add_equal_layers(Part& stack, std::string_view scope, Size n, std::string_view class_name,
                      Part layer);

/// `n` modules called scope.0, scope.1, ... in a ModuleList. `class_of(i)` gives the class of
/// module i. Each is a block. Throws std::length_error beyond `most_layers`.
template <class C, class F>
Part mixed_stack(std::string_view scope, Size n, C&& class_of, F&& layer) {
  Part all = empty_stack(scope, n);
  for (Size i = 0; i < n; ++i) add_layer(all, scope, n, i, class_of(i), layer(i));
  return all;
}
/// A stack whose modules are all of `class_name`. A `layer` that takes no number is described once
/// for all.
template <class F>
Part stack(std::string_view scope, std::string_view class_name, Size n, F&& layer) {
  if constexpr (std::is_invocable_v<F&>) {
    Part all = empty_stack(scope, n);
    if (n > 0) add_equal_layers(all, scope, n, class_name, layer());
    return all;
  } else {
    return mixed_stack(
        scope, n, [&](Size) { return class_name; }, layer);
  }
}

/// `part` as the pinned reference builds it, with the ties that only the reference makes.
Part as_reference(Part part);

/// `part` with classes that a placement must not split.
Part unsplittable(Part part, std::vector<std::string> classes);

}  // namespace headroom::model
