// A custom decoder, given by sizes instead of a config and built from the blocks of the described
// architectures.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint/model.hpp"

namespace headroom::model {

enum class CustomNorm { layer, rms };

/// Position of a layer's norms. A final norm follows the layers in every case.
enum class NormPlacement {
  pre,       ///< before attention and before the feed-forward (GPT-2, Llama)
  post,      ///< after each (OLMo 2, arXiv:2501.00656)
  both,      ///< before and after each (Gemma 2, arXiv:2408.00118)
  parallel,  ///< one norm before both, which run in parallel (GPT-J)
};

/// Norms of queries and keys (arXiv:2010.04245).
enum class QueryKeyNorm { none, head, layer };

enum class PositionEmbedding { learned, rotary, none };

enum class FeedForward { plain, gated };

/// Which tensors have a bias.
struct Biases {
  Bias qkv = Bias::no, attention_output = Bias::no;
  Bias feed_forward = Bias::no;  ///< including experts; routers have none
  Bias norm = Bias::no;          ///< layer norms only
  Bias head = Bias::no;
};

/// A complete and consistent causal decoder. The caller has checked the combination.
struct CustomDecoder {
  Size hidden_size = 0, layers = 0, vocabulary = 0;
  Heads heads{};               ///< query heads are a multiple of KV heads
  Size positions = 0;          ///< rows of the learned table, or the longest context; 0: no limit
  Size intermediate_size = 0;  ///< width of dense feed-forwards; 0: no layer has one
  Routing experts{0, 0};       ///< {0, 0}: no mixture of experts
  Size expert_size = 0;        ///< intermediate size of one expert
  Size shared_experts = 0;     ///< run for every token, as one feed-forward of their total width
  Size dense_layers = 0;       ///< first layers without experts
  Size window = 0;             ///< sliding window in tokens; 0: none
  Size full_attention_every = 0;  ///< every n-th layer has no window; 0: all have it
  CustomNorm norm = CustomNorm::layer;
  NormPlacement norm_placement = NormPlacement::pre;
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;
  PositionEmbedding position_embedding = PositionEmbedding::learned;
  FeedForward feed_forward = FeedForward::plain;
  Biases biases{};
  bool tied_head = true;
};

/// The tensors of `decoder` with Llama's names, including the root module. Throws std::length_error
/// and std::overflow_error for sizes whose sums overflow.
Part describe(const CustomDecoder& decoder);

/// The decoder as a model. Its checkpoint is in fp32, as newly created modules are.
Model make_model(std::string name, const CustomDecoder& decoder, std::string source);

}  // namespace headroom::model
