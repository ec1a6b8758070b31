// DeepSeek-OCR (arXiv:2510.18234) and its second version as their repositories publish them: SAM's
// tower feeds a second tower, and DeepSeek-V2's mixture without latent attention reads both. The
// second tower is CLIP's in the first version, and Qwen2's layers with learned queries in the
// second.
#include <algorithm>
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::deepseek_ocr {

/// Sizes of a tower in `width` of the vision section. The keys differ from the rest of the config.
/// Engines do not read them, so their values are the fallbacks.
/// Source: vLLM 0.33, deepencoder.py and deepencoder2.py.
Config sizes_of_tower(const Config& c, std::string_view name) {
  const Config vision = c.section_or_empty("vision_config");
  return vision.section_or_empty("width").section_or_empty(name);
}

/// A window, or the whole image in the layers of global_attn_indexes.
Part sam_block(Size width, Size dim, Size reach) {
  return layer_norm("norm1", width) +
         in("attn", "Attention",
            tensor("rel_pos_h", {2 * reach - 1, dim}, Role::other) +
                tensor("rel_pos_w", {2 * reach - 1, dim}, Role::other) +
                linear("qkv", width, 3 * width, Bias::yes) +
                linear("proj", width, width, Bias::yes)) +
         layer_norm("norm2", width) +
         in("mlp", "MLPBlock",
            linear("lin1", width, 4 * width, Bias::yes) +
                linear("lin2", 4 * width, width, Bias::yes) + module("act", "GELU"));
}

/// SAM-base and two convolutions. `out` is the number of channels of the last.
Part sam(const Config& s, Size out) {
  constexpr Size side = 64, window = 14, patch = 16, neck = 256;
  const Size width = s.dim({"width"}, 768), dim = width / s.dim({"heads"}, 12);
  auto whole = s.dims({"global_attn_indexes"});
  if (whole.empty()) whole = {2, 5, 8, 11};
  const auto channels = s.dims({"downsample_channels"});
  const Size middle = channels.empty() ? 512 : channels.front();
  const auto channel_norm = [&](std::string_view name) {
    return in(name, "LayerNorm2d",
              tensor("weight", {neck}, Role::norm) + tensor("bias", {neck}, Role::norm));
  };
  const Part p = tensor("pos_embed", {1, side, side, width}, Role::embedding) +
                 in("patch_embed", "PatchEmbed",
                    convolution("proj", "Conv2d", {width, 3, patch, patch}, Bias::yes)) +
                 stack("blocks", "SamBlock", s.dim({"layers"}, 12),
                       [&](Size i) {
                         const bool all = std::find(whole.begin(), whole.end(), i) != whole.end();
                         return sam_block(width, dim, all ? side : window);
                       }) +
                 in("neck", "Sequential",
                    convolution("0", "Conv2d", {neck, width, 1, 1}) + channel_norm("1") +
                        convolution("2", "Conv2d", {neck, neck, 3, 3}) + channel_norm("3")) +
                 convolution("net_2", "Conv2d", {middle, neck, 3, 3}) +
                 convolution("net_3", "Conv2d", {out, middle, 3, 3});
  return in("sam_model", "ImageEncoderViT", p);
}

/// CLIP-large over SAM's output. Its own patch embedding is in files, and no image passes through
/// it.
Part clip(const Config& s) {
  const Size width = s.dim({"width"}, 1024), patch = s.dim({"patch_size"}, 14);
  const Size side = s.dim({"image_size"}, 224) / patch, positions = side * side + 1;
  const Part layer =
      layer_norm("layer_norm1", width) +
      in("self_attn", "NoTPAttention",
         linear("qkv_proj", width, 3 * width, Bias::yes) +
             linear("out_proj", width, width, Bias::yes)) +
      layer_norm("layer_norm2", width) +
      in("mlp", "NoTPFeedForward",
         linear("fc1", width, 4 * width, Bias::yes) + linear("fc2", 4 * width, width, Bias::yes));
  return in("vision_model", "VitModel",
            in("embeddings", "CLIPVisionEmbeddings",
               tensor("class_embedding", {width}, Role::other) +
                   convolution("patch_embedding", "Conv2d", {width, 3, patch, patch}) +
                   embedding("position_embedding", positions, width) + position_ids(positions)) +
                in("transformer", "NoTPTransformer",
                   stack("layers", "NoTPTransformerBlock", s.dim({"layers"}, 24),
                         [&] { return layer; })) +
                layer_norm("pre_layrnorm", width));
}

/// Qwen2-0.5B's layers over SAM's output and learned queries. They need no KV cache.
Part qwen_reader(Size width) {
  constexpr Size layers = 24, inner = 4864;
  Part attends = attention(width, {14, 2, width / 14}, Bias::yes);
  attends.caches.clear();
  const Part layer = in("self_attn", "Qwen2Attention", attends) +
                     in("mlp", "Qwen2MLP", gated_mlp(width, inner, "SiLUActivation")) +
                     rms_norm("input_layernorm", "Qwen2RMSNorm", width) +
                     rms_norm("post_attention_layernorm", "Qwen2RMSNorm", width);
  const Part body = stack("layers", "Qwen2DecoderLayer", layers, [&] { return layer; }) +
                    rms_norm("norm", "Qwen2RMSNorm", width) +
                    rotary("Qwen2RotaryEmbedding", width / 14);
  return in("qwen2_model", "Qwen2Decoder2Encoder",
            in("model", "CustomQwen2Decoder", in("model", "CustomQwen2ModelInner", body)) +
                embedding("query_768", 144, width) + embedding("query_1024", 256, width));
}

/// The text model, whose layers are children of `model`, next to `towers`.
Part assembled(const Config& c, Part towers, Size seen) {
  const Config text = section_of(c, "language_config", "deepseek_v2");
  const Config p = c.section_or_empty("projector_config");
  const Size out = text.dim({"hidden_size"});
  Part inner = tensor("view_seperator", {out}, Role::other) + std::move(towers) +
               in("projector", "MlpProjector",
                  linear("layers", p.dim({"input_dim"}, seen), p.dim({"n_embed"}, out), Bias::yes));
  return with_language_head(
      with_unsplittable(body_without_head(text, "model") + at("model", std::move(inner)),
                        {"SamBlock", "NoTPTransformerBlock"}),
      text, head_is_tied(c, text, false, Inherit::yes), "model.embed_tokens.weight");
}

/// Sources: vLLM 0.33, deepseek_ocr.py and unlimited_ocr.py. Unlimited-OCR has the same tensors.
Part deepseek_ocr(const Config& c) {
  const Config text = section_of(c, "language_config", "deepseek_v2");
  const Config eyes = sizes_of_tower(c, "sam_vit_b"), reader = sizes_of_tower(c, "clip-l-14-224");
  const Size seen = reader.dim({"width"}, 1024);
  return assembled(c,
                   tensor("image_newline", {text.dim({"hidden_size"})}, Role::other) +
                       sam(eyes, seen) + clip(reader),
                   2 * seen);
}

/// Source: vLLM 0.33, deepseek_ocr2.py.
Part deepseek_ocr2(const Config& c) {
  constexpr Size width = 896;
  return assembled(c, sam(sizes_of_tower(c, "sam_vit_b"), width) + qwen_reader(width), width);
}

}  // namespace headroom::model::families::deepseek_ocr
