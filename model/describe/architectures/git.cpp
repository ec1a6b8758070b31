// GIT (arXiv:2205.14100): a BERT-like decoder that reads an image's patches before its tokens.
#include "model/describe/architectures/bert_layer.hpp"
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/tower_layers.hpp"

namespace headroom::model::families::git {

/// Source: transformers 5.23, models/git/modeling_git.py.
Part git(const Config& c) {
  BertSizes s = bert_sizes(c);
  s.decoder = true;
  const Config v = section_of(c, "vision_config", "git_vision_model");
  const Size width = v.dim({"hidden_size"});
  Part body = in("embeddings", "GitEmbeddings",
                 embedding("word_embeddings", s.vocab, s.hidden) +
                     embedding("position_embeddings", s.positions, s.hidden) +
                     layer_norm("LayerNorm", s.hidden) + dropout() + position_ids(s.positions)) +
              in("image_encoder", "GitVisionModel",
                 in("vision_model", "GitVisionTransformer",
                    clip_vision_body(v, "GitVisionEmbeddings", "GitVision"))) +
              in("encoder", "GitEncoder",
                 stack("layer", "GitLayer", s.layers, [&] { return bert_layer("Git", s); })) +
              in("visual_projection", "GitProjection",
                 in("visual_projection", "Sequential",
                    linear("0", width, s.hidden, Bias::yes) + layer_norm("1", s.hidden)));
  if (c.has("num_image_with_embedding")) {
    Part frames;
    for (Size i = 0; i < std::min(c.dim({"num_image_with_embedding"}), most_layers); ++i)
      frames = std::move(frames) + tensor(std::to_string(i), {1, 1, width}, Role::other);
    body = std::move(body) + in("img_temporal_embedding", "ParameterList", std::move(frames));
  }
  if (is_for(c, "GitModel")) return body;
  body =
      in("git", "GitModel", std::move(body)) + output_head("output", s.hidden, s.vocab, Bias::yes);
  if (!c.flag({"tie_word_embeddings"}, false)) return body;
  return tied(std::move(body), "output.weight", "git.embeddings.word_embeddings.weight");
}

}  // namespace headroom::model::families::git
