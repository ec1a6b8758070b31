// Cosmos 3 Edge: SigLIP 2's tower over patches of any shape, merged 2 x 2, and a small decoder with
// squared ReLU.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/tower_layers.hpp"

namespace headroom::model::families::cosmos3_edge {

/// Source: transformers 5.23, models/cosmos3_edge/modeling_cosmos3_edge.py.
Part cosmos3_edge(const Config& c) {
  const Config text = section_of(c, "text_config", "cosmos3_edge_text");
  const Config v = section_of(c, "vision_config", "cosmos3_edge_vision");
  const Classes k{"Cosmos3EdgeText"};
  const TowerSizes t = tower_sizes(v, "gelu_pytorch_tanh");
  const Part tower =
      in("embeddings", "Cosmos3EdgeVisionEmbeddings",
         linear("patch_embedding", times({t.channels, t.patch, t.patch}), t.hidden, Bias::yes) +
             embedding("position_embedding", v.dim({"num_patches"}, 256), t.hidden)) +
      in("encoder", "Cosmos3EdgeEncoder",
         stack("layers", "Cosmos3EdgeVisionEncoderLayer", t.layers,
               [&] {
                 return layer_norm("layer_norm1", t.hidden) +
                        tower_attention("Cosmos3EdgeVisionAttention", t.hidden) +
                        layer_norm("layer_norm2", t.hidden) + tower_mlp("mlp", "Cosmos3EdgeMLP", t);
               })) +
      layer_norm("post_layernorm", t.hidden);
  const Common s = common_of(text, {.head_dim = 128, .act = "relu2"});
  const Bias bias = text.bias({"attention_bias"}, false), mlp = text.bias({"mlp_bias"}, false);
  const Part language = trunk(text, k, s.heads.dim, [&] {
    return decoder_layer(k, s.hidden, attention(s.hidden, s.heads, bias, bias),
                         in("mlp", k("MLP"),
                            module("activation_fn", s.act) + linear("fc1", s.hidden, s.inner, mlp) +
                                linear("fc2", s.inner, s.hidden, mlp)));
  });
  const Size side = v.dim({"spatial_merge_size"}, 2), wide = times({t.hidden, side, side});
  const Size between = c.dim({"projector_hidden_size"}, 11520);
  Part body = in(
      "model", "Cosmos3EdgeModel",
      in("visual", "Cosmos3EdgeVisionModel", tower) + in("language_model", k("Model"), language) +
          in("projector", "Cosmos3EdgePatchMerger",
             layer_norm("norm", t.hidden) + linear("linear_fc1", wide, between, Bias::yes) +
                 module("act_fn", "GELU") + linear("linear_fc2", between, s.hidden, Bias::yes)));
  // The class ignores the config's tie and ties nothing.
  return with_language_head(with_unsplittable(std::move(body), {"Cosmos3EdgeVisionEncoderLayer"}),
                            text, false, "");
}

}  // namespace headroom::model::families::cosmos3_edge
