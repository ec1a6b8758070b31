// The positions of a layer's norms.
#include "model/describe/layers/read.hpp"

namespace headroom::model::layers {

void read_norms(const Subtree& tree, LayerSpec& layer) {
  layer.before_layer = tree.norm({"pre_ln"});
  layer.before_attention = tree.norm(
      {"input_layernorm", "ln_1", "ln_attn", "norm_1", "norm1", "attention_norm", "operator_norm",
       "layer_norm1", "layernorm_before", "pre_attention_layernorm", "attn_norm", "pre_attn_norm",
       "temporal_pre_norm", "attention_layernorm", "norm_attn_norm.norm_1", "ln1"});
  if (tree.has({"mixer"})) {  // one norm before whatever the mixer is (Mamba, Nemotron-H)
    layer.before_attention = layer.before_feed_forward = tree.norm({"norm"});
    return;
  }
  layer.after_feed_forward = tree.norm({"post_feedforward_layernorm", "post_mlp_layernorm",
                                        "post_norm2", "post_ff_layernorm", "post_moe_norm"});
  const bool four = tree.has({"pre_feedforward_layernorm", "pre_mlp_layernorm"});
  const bool after = four || (!layer.before_attention && layer.after_feed_forward);
  layer.after_attention = tree.norm({"post_self_attn_layernorm", "post_attn_norm", "post_norm1"});
  if (after && !layer.after_attention)
    layer.after_attention = tree.norm({"post_attention_layernorm"});
  layer.before_feed_forward =
      tree.norm({"residual_layernorm", "pre_moe_norm", "pre_feedforward_layernorm",
                 "pre_mlp_layernorm", "ln_2", "ln_mlp", "norm_2", "norm2", "ffn_norm",
                 "layer_norm2", "layernorm_after", "pre_ff_layernorm", "mlp_norm",
                 "channel_pre_norm", "feedforward_layernorm", "norm_attn_norm.norm_2", "ln2"});
  if (!layer.before_feed_forward && !after)
    layer.before_feed_forward = tree.norm({"post_attention_layernorm"});
  if (tree.has({"attention.output.LayerNorm"})) {  // BERT and its relatives
    layer.before_attention = tree.norm({"attention.output.LayerNorm"});
    layer.before_feed_forward = tree.norm({"output.LayerNorm"});
  }
  if (tree.has({"attention.LayerNorm"})) {  // ALBERT, MPNet
    layer.before_attention = tree.norm({"attention.LayerNorm"});
    layer.before_feed_forward = tree.norm({"full_layer_layer_norm", "output.LayerNorm"});
  }
  if (tree.has({"sa_layer_norm"})) {  // DistilBERT
    layer.before_attention = tree.norm({"sa_layer_norm"});
    layer.before_feed_forward = tree.norm({"output_layer_norm"});
  }
  if (tree.has({"self_attn_layer_norm"})) {  // BART and its relatives
    layer.before_attention = tree.norm({"self_attn_layer_norm"});
    layer.before_feed_forward = tree.norm({"final_layer_norm"});
    layer.before_cross_attention = tree.norm({"encoder_attn_layer_norm"});
  }
  if (tree.has({"layer.0.layer_norm"})) {  // T5 and its relatives: a layer of layers
    const bool crosses = tree.has({"layer.2.layer_norm"});
    layer.before_attention = tree.norm({"layer.0.layer_norm"});
    if (crosses) layer.before_cross_attention = tree.norm({"layer.1.layer_norm"});
    layer.before_feed_forward = tree.norm({crosses ? "layer.2.layer_norm" : "layer.1.layer_norm"});
  }
}

}  // namespace headroom::model::layers
