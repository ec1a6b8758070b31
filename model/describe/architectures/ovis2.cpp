// Ovis 2 (arXiv:2405.20797): AIMv2's tower. Its output selects rows of a table of visual words.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::ovis2 {

/// Source: transformers 5.23, models/ovis2/modeling_ovis2.py.
Part ovis2(const Config& c) {
  const std::string k = "Ovis2";
  const Config text = section_of(c, "text_config", "qwen2");
  const Config v = section_of(c, "vision_config", "ovis2_vision");
  const Submodel language = text_model(text);
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const auto [patch, other] = pair_of(v, "patch_size", 14);
  const Size positions = patches(v), stride = v.dim({"hidden_stride"}, 1);
  const Size words = v.dim({"vocab_size"}, 16384),
             indicators = v.dim({"num_visual_indicator_tokens"}, 5);
  if (words <= indicators) v.fail("vocab_size", "expected more than num_visual_indicator_tokens");
  const Bias bias = v.bias({"qkv_bias"}, false), mlp = v.bias({"mlp_bias"}, false);
  const std::string act = activation_class(v, {"hidden_act"}, "silu");
  const auto norm = [&](std::string_view name) { return rms_norm(name, k + "RMSNorm", width); };
  const Part layer =
      in("attention", k + "VisionAttention",
         linear("k_proj", width, width, bias) + linear("v_proj", width, width, bias) +
             linear("q_proj", width, width, bias) + linear("out_proj", width, width, bias)) +
      in("ffn", k + "MLP", gated_mlp(width, inner, act, mlp)) + norm("rms_norm1") +
      norm("rms_norm2");
  const Part tower =
      in("transformer", k + "VisionTransformer",
         in("embeddings", k + "VisionEmbeddings",
            convolution("patch_embedding", "Conv2d",
                        {width, v.dim({"num_channels"}, 3), patch, other}, Bias::yes) +
                embedding("position_embedding", positions, width) + norm("rms_norm") +
                position_ids(positions)) +
             in("encoder", k + "VisionEncoder",
                stack("layers", k + "VisionEncoderLayer", v.dim({"num_hidden_layers"}),
                      [&] { return layer; })) +
             norm("rms_norm")) +
      linear("head_linear", times({width, stride, stride}), words - indicators) +
      layer_norm("head_norm", words - indicators);
  Part body = in("model", k + "Model",
                 in("vision_tower", k + "VisionModel", tower) + language.as("language_model") +
                     in("visual_embeddings_table", k + "VisualEmbeddingTable",
                        tensor("weight", {words, c.dim({"hidden_size"}, 1536)}, Role::matmul)));
  // A head of its own has the sizes of the whole config.
  const bool is_tied = head_is_tied(c, text, true, Inherit::no);
  const Config whole = c.with_defaults({{"hidden_size", 1536}, {"vocab_size", 151643}});
  return with_language_head(with_unsplittable(std::move(body), {k + "VisionAttention"}),
                            is_tied ? text : whole, is_tied,
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::ovis2
