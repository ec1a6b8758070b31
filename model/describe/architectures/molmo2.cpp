// Molmo 2. Attention pools features from two layers of the tower. The decoder is like Qwen3, but
// its embedding has rows that its head lacks.
#include <algorithm>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/config_words.hpp"

namespace headroom::model::families::molmo2 {

constexpr Classes k{"Molmo2"};

/// Attention over `in_dim` dimensions. The section gives the heads.
Part pooled_attention(std::string_view name, const Config& v, Size in_dim) {
  const Size dim = v.dim({"head_dim"}), query = v.dim({"num_attention_heads"}) * dim;
  const Size kv = v.dim({"num_key_value_heads"}) * dim;
  const Bias bias = v.bias({"attention_bias"}, true);
  return in(name, k("VisionAttention"),
            linear("q_proj", in_dim, query, bias) + linear("k_proj", in_dim, kv, bias) +
                linear("v_proj", in_dim, kv, bias) +
                linear("o_proj", query, v.dim({"hidden_size"}), bias));
}

struct Tower {
  Size layers, features;  ///< layers that are run, and layers whose output is read
};
/// Files with the old names (`vit_config`, `vit_layers`) count layers after the deepest layer that
/// is read. The checkpoints do not contain those layers.
Tower tower_of(const Config& c, const Config& v, const Config& adapter) {
  std::vector<double> read = adapter.numbers({"vit_layers", "vision_feature_layer"});
  if (read.empty()) read = {24, 18};
  Tower tower{v.dim({"num_hidden_layers"}), static_cast<Size>(read.size())};
  if (!c.has("vision_config") && c.has("vit_config")) {
    Size deepest = 0;
    for (const double number : read) {  // negative numbers count from the last layer
      const Size layer = static_cast<Size>(number) % tower.layers;
      deepest = std::max(deepest, (layer + tower.layers) % tower.layers);
    }
    tower.layers = deepest + 1;
  }
  return tower;
}

Part vision_tower(const Config& v, Size layers) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size patch = v.dim({"image_patch_size", "patch_size"});
  Size positions = v.dim({"image_num_pos", "num_position_embeddings"}, 0);
  if (positions == 0) {
    const auto [height, breadth] = pair_of(
        v, v.has("image_default_input_size") ? "image_default_input_size" : "image_size", 378);
    positions = (height / patch) * (breadth / patch);
  }
  const std::string act = activation_class(v, {"hidden_act"}, "gelu_pytorch_tanh");
  return tensor("positional_embedding", {positions, width}, Role::embedding) +
         linear("patch_embedding", times({patch, patch, v.dim({"num_channels"}, 3)}), width,
                Bias::yes) +
         stack("layers", k("VisionEncoderLayer"), layers, [&] {
           return layer_norm("layer_norm1", width) + pooled_attention("self_attn", v, width) +
                  layer_norm("layer_norm2", width) +
                  in("mlp", k("VisionMLP"),
                     module("activation_fn", act) + linear("fc1", width, inner, Bias::yes) +
                         linear("fc2", inner, width, Bias::yes));
         });
}

Part language(const Config& c) {
  const Common s = common_of(c);
  const Bias bias = c.bias({"attention_bias"}, false);
  const bool each =
      word_of(c, {"qk_norm_type"}, "qwen3", {"qwen3", "olmo", "per_layer"}) == "qwen3";
  const auto layer = [&] {
    return decoder_layer(
        k, s.hidden,
        attention(s.hidden, s.heads, bias) +
            (each ? head_norms(k("RMSNorm"), s.heads.dim) : layer_norms(k("RMSNorm"), s.heads)),
        dense_mlp(c, k));
  };
  Part plain = rotary(k("RotaryEmbedding"), s.heads.dim);
  plain.modules[0].path = "rotary_emb_unscaled";
  for (auto& t : plain.tensors) t.name.replace(0, t.name.find('.'), "rotary_emb_unscaled");
  return unsplittable(
      embedding("embed_tokens", c.dim({"vocab_size"}) + c.count({"additional_vocab_size"}, 128),
                s.hidden) +
          stack("layers", k("DecoderLayer"), s.layers, layer) +
          rms_norm("norm", k("RMSNorm"), s.hidden) +
          rotary(k("RotaryEmbedding"), rotated_if_scaled(c, s.heads.dim)) + std::move(plain),
      {k("DecoderLayer")});
}

/// Source: transformers 5.23, models/molmo2/{configuration,modeling}_molmo2.py.
Part molmo2(const Config& c) {
  const Config text = section_of(c, "text_config", "molmo2_text");
  const Config v = with_class_defaults(
      c.section_or_empty(c.has("vision_config") ? "vision_config" : "vit_config"), "molmo2_vision");
  const Config adapter =
      with_class_defaults(c.section_or_empty("adapter_config"), "molmo2_adapter");
  const Tower tower = tower_of(c, v, adapter);
  const Size seen = adapter.dim({"hidden_size"}), inner = adapter.dim({"intermediate_size"});
  const Bias bias = adapter.bias({"mlp_bias"}, false);
  Part body = in(
      "model", k("Model"),
      in("vision_tower", k("VisionModel"), vision_tower(v, tower.layers)) +
          in("multi_modal_projector", k("Adapter"),
             pooled_attention("image_pooling_2d", adapter, seen * tower.features) +
                 in("image_projector", k("ImageProjectorMLP"),
                    linear("gate_proj", seen, inner, bias) + linear("up_proj", seen, inner, bias) +
                        linear("down_proj", inner, adapter.dim({"text_hidden_size"})) +
                        module("act_fn", activation_class(adapter, {"hidden_act"}, "silu")))) +
          in("language_model", k("TextModel"), language(text)));
  return with_language_head(
      with_unsplittable(std::move(body), {k("VisionEncoderLayer"), k("VisionAttention")}), text,
      false, "");
}

}  // namespace headroom::model::families::molmo2
