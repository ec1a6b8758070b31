// A decoder of one's own: sizes instead of a config, in the blocks that the described architectures
// are made of.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint/model.hpp"

namespace headroom::model {

enum class CustomNorm { layer, rms };

/// Where a layer's norms stand. A final norm follows the layers in all of them.
enum class NormPlacement {
  pre,       ///< before attention and before the feed-forward (GPT-2, Llama)
  post,      ///< after each (OLMo 2, arXiv:2501.00656)
  both,      ///< before and after each (Gemma 2, arXiv:2408.00118)
  parallel,  ///< one norm before both, which run side by side (GPT-J)
};

/// Norms of queries and keys (arXiv:2010.04245).
enum class QueryKeyNorm { none, head, layer };

enum class PositionEmbedding { learned, rotary, none };

enum class FeedForward { plain, gated };

/// Which of the tensors that can have a bias have one.
struct Biases {
  Bias qkv = Bias::no, attention_output = Bias::no;
  Bias feed_forward = Bias::no;  ///< experts included; routers have none
  Bias norm = Bias::no;          ///< layer norms only
  Bias head = Bias::no;
};

/// A causal decoder, whole and consistent: whoever fills it in has checked the combination.
struct CustomDecoder {
  Size hidden_size = 0, layers = 0, vocabulary = 0;
  Heads heads{};               ///< query heads are a multiple of key-value heads
  Size positions = 0;          ///< rows of the learned table, or the longest context; 0: no limit
  Size intermediate_size = 0;  ///< of dense feed-forwards; 0: no layer has one
  Routing experts{0, 0};       ///< {0, 0}: no mixture
  Size expert_size = 0;        ///< intermediate size of one expert
  Size shared_experts = 0;     ///< run for every token, as one feed-forward of their widths
  Size dense_layers = 0;       ///< first layers without a mixture
  Size window = 0;             ///< sliding window in tokens; 0: none
  Size full_attention_every = 0;  ///< every n-th layer is without the window; 0: none is
  CustomNorm norm = CustomNorm::layer;
  NormPlacement norm_placement = NormPlacement::pre;
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;
  PositionEmbedding position_embedding = PositionEmbedding::learned;
  FeedForward feed_forward = FeedForward::plain;
  Biases biases{};
  bool tied_head = true;
};

/// The tensors of `decoder`, named as in a Llama, its root module included. Throws
/// std::length_error and std::overflow_error for sizes beyond what can be added up.
Part describe(const CustomDecoder& decoder);

/// The same as a model, held in fp32 as modules are when they are made.
Model make_model(std::string name, const CustomDecoder& decoder, std::string source);

}  // namespace headroom::model
