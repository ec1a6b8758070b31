// MiniMax-M3 with its vision tower: CLIP's layers over patches in space and time.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/tower_layers.hpp"
#include "model/describe/blocks/decoder.hpp"

namespace headroom::model::families::minimax_m3_vl {

/// Source: transformers 5.23, models/minimax_m3_vl/modeling_minimax_m3_vl.py.
Part minimax_m3_vl(const Config& c) {
  const Classes k{"MiniMaxM3VL"};
  const Config text = section_of(c, "text_config", "minimax_m3_vl_text");
  const Config v = section_of(c, "vision_config", "minimax_m3_vl_vision");
  const Submodel language = text_model(text);
  const TowerSizes s = tower_sizes(v, "gelu");
  const Size merge = v.dim({"spatial_merge_size"}, 2), width = language.width;
  const Size dim = v.dim({"head_dim"}, s.hidden / s.heads);
  const Size projected = c.dim({"projector_hidden_size"}, 6144);
  const Part layer = tower_attention(k("VisionAttention"), s.hidden) +
                     layer_norm("layer_norm1", s.hidden) + tower_mlp("mlp", k("VisionMLP"), s) +
                     layer_norm("layer_norm2", s.hidden);
  const Part tower =
      in("embeddings", k("VisionEmbeddings"),
         convolution("proj", "Conv3d",
                     {s.hidden, s.channels, v.dim({"temporal_patch_size"}, 2), s.patch, s.patch})) +
      layer_norm("pre_layrnorm", s.hidden) +
      stack("layers", k("VisionEncoderLayer"), s.layers, [&] { return layer; }) +
      frequencies("rotary_emb", k("VisionRotaryEmbedding"), dim / 3 / 2);  // time, height, width
  return with_unsplittable(
      with_language_head(in("model", k("Model"),
                            in("vision_tower", k("VisionModel"), tower) +
                                in("multi_modal_projector", k("MultiModalProjector"),
                                   linear("linear_1", s.hidden, projected, Bias::yes) +
                                       module("act", "GELUActivation") +
                                       linear("linear_2", projected, width, Bias::yes) +
                                       linear("merge_linear_1", times({width, merge, merge}),
                                              projected, Bias::yes) +
                                       module("merge_act", "GELUActivation") +
                                       linear("merge_linear_2", projected, width, Bias::yes)) +
                                language.as("language_model")),
                         text, head_is_tied(c, text, false, Inherit::yes),
                         "model.language_model.embed_tokens.weight"),
      {k("DecoderLayer"), k("VisionEncoderLayer")});
}

}  // namespace headroom::model::families::minimax_m3_vl
