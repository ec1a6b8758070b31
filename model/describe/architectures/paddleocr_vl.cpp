// PaddleOCR-VL (arXiv:2510.14528): a SigLIP tower with rotary positions and a small ERNIE 4.5.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/tower_layers.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::paddleocr_vl {

/// Source: transformers 5.23, models/paddleocr_vl/modeling_paddleocr_vl.py.
Part paddleocr_vl(const Config& c) {
  const Classes k{"PaddleOCR"};
  const Config text = section_or_self(c, "text_config", "paddleocr_vl_text");
  const Config v = section_of(c, "vision_config", "paddleocr_vl_vision");
  const TowerSizes t = tower_sizes(v, "gelu_pytorch_tanh");
  const Size positions = patches(v);
  Part encoder = tower_encoder("PaddleOCRVision", t, First::norm) +
                 at("encoder", frequencies("rotary_pos_emb", k("VisionRotaryEmbedding"),
                                           t.hidden / t.heads / 4));
  const Part tower =
      in("embeddings", k("VisionEmbeddings"),
         convolution("patch_embedding", "Conv2d", {t.hidden, t.channels, t.patch, t.patch},
                     Bias::yes) +
             embedding("position_embedding", positions, t.hidden) + position_ids(positions)) +
      std::move(encoder) + layer_norm("post_layernorm", t.hidden);
  const Common s = common_of(text, {.kv_heads = 2, .head_dim = 128});
  const Bias bias = text.bias({"use_bias"}, false);
  const Part language = trunk(text, k, rotated_if_scaled(text, s.heads.dim), [&] {
    return decoder_layer(k, s.hidden, attention(s.hidden, s.heads, bias, bias),
                         dense_mlp(text, k, bias));
  });
  const Size side = v.dim({"spatial_merge_size"}, 2), wide = times({t.hidden, side, side});
  return with_language_head(
      in("model", "PaddleOCRVLModel",
         in("visual", k("VisionModel"), in("vision_model", k("VisionTransformer"), tower)) +
             in("language_model", k("TextModel"), language) +
             in("projector", k("Projector"),
                layer_norm("pre_norm", t.hidden) + linear("linear_1", wide, wide, Bias::yes) +
                    module("act", "GELUActivation") +
                    linear("linear_2", wide, s.hidden, Bias::yes))),
      text, head_is_tied(c, text, true, Inherit::no), "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::paddleocr_vl
