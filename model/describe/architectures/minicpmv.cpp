// MiniCPM-V 2.0 to 4.5 (arXiv:2408.01800) and MiniCPM-o: SigLIP's tower, a resampler with learned
// queries, and a text model by version. MiniCPM-o adds Whisper's encoder.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "model/describe/architectures/audio_towers.hpp"
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/tower_layers.hpp"

namespace headroom::model::families::minicpmv {

/// The version as text, from a number or a text. Files without it are MiniCPM-V 2.0, MiniCPM-V 2.5
/// or MiniCPM-o 2.6. Source: vLLM 0.33 minicpmv.py and minicpmo.py, __new__.
std::string version_of(const Config& c) {
  const auto* value = c.object().if_contains("version");
  if (value != nullptr && value->is_string()) return c.text({"version"});
  if (c.has("version")) return fmt::format("{:.1f}", c.number({"version"}, 0));
  if (c.class_name() == "MiniCPMO") return "2.6";
  return c.dim({"hidden_size"}) == 2304 && c.dim({"query_num"}) == 64 ? "2.0" : "2.5";
}

/// The model_type of the text model. MiniCPM's own decoder of 2.0 has the tensors of Llama.
std::string_view text_type(const Config& c, std::string_view version) {
  struct Row {
    std::string_view version, type;
  };
  static constexpr Row rows[] = {
      {"2.0", "llama"}, {"2.5", "llama"}, {"2.6", "qwen2"}, {"4.0", "llama"}, {"4.5", "qwen3"}};
  for (const Row& row : rows)
    if (row.version == version) return row.type;
  c.fail("version", fmt::format("found {}, expected 2.0, 2.5, 2.6, 4.0 or 4.5", version));
}

TowerSizes vision_sizes(const Config& c) {
  const Config v = c.section_or_empty("vision_config");
  TowerSizes s{.hidden = v.dim({"hidden_size"}, 1152),
               .inner = v.dim({"intermediate_size"}, 4304),
               .heads = v.dim({"num_attention_heads"}, 16),
               .layers = v.dim({"num_hidden_layers"}, 27),
               .channels = v.dim({"num_channels"}, 3),
               .patch = v.dim({"patch_size"}, 14),
               .act = activation_class(v, {"hidden_act"}, "gelu_pytorch_tanh")};
  if (c.flag({"drop_vision_last_layer"}, false)) --s.layers;
  return s;
}

/// Idefics 2's variant of SigLIP, of the versions from 2.5 on.
Part tower(const Config& c) {
  const TowerSizes s = vision_sizes(c);
  const Size side = c.section_or_empty("vision_config").dim({"image_size"}, 980) / s.patch;
  return in("vpm", "SiglipVisionTransformer",
            in("embeddings", "SiglipVisionEmbeddings",
               convolution("patch_embedding", "Conv2d", {s.hidden, s.channels, s.patch, s.patch},
                           Bias::yes) +
                   embedding("position_embedding", side * side, s.hidden)) +
                tower_encoder("Siglip", s, First::norm) + layer_norm("post_layernorm", s.hidden));
}

/// The tower of 2.0 as timm has it: vit_so400m_patch14_siglip_384 without pooling.
Part timm_tower(const Config& c) {
  const TowerSizes s = vision_sizes(c);
  const Size side = 384 / s.patch;
  return in(
      "vpm", "VisionTransformer",
      tensor("pos_embed", {1, side * side, s.hidden}, Role::embedding) +
          in("patch_embed", "PatchEmbed",
             convolution("proj", "Conv2d", {s.hidden, s.channels, s.patch, s.patch}, Bias::yes)) +
          stack("blocks", "Block", s.layers, [&] { return timm_layer(s.hidden, s.inner); }) +
          layer_norm("norm", s.hidden));
}

enum class Positions { computed, stored };

/// Cross-attention of `query_num` learned queries to the patches.
Part resampler(const Config& c, Size seen, Positions positions) {
  const Size width = c.dim({"hidden_size"}), queries = c.dim({"query_num"}, 64);
  Part p =
      tensor("query", {queries, width}, Role::other) + tensor("proj", {width, width}, Role::matmul);
  if (positions == Positions::stored)
    p = std::move(p) + tensor("pos_embed", {queries, width}, Role::other);
  if (seen != width) p = std::move(p) + linear("kv_proj", seen, width);
  return in("resampler", "Resampler",
            std::move(p) +
                in("attn", "MultiheadAttention",
                   tensor("in_proj_weight", {3 * width, width}, Role::matmul) +
                       tensor("in_proj_bias", {3 * width}, Role::bias) +
                       in("out_proj", "NonDynamicallyQuantizableLinear",
                          tensor("weight", {width, width}, Role::matmul) +
                              tensor("bias", {width}, Role::bias))) +
                layer_norm("ln_q", width) + layer_norm("ln_kv", width) +
                layer_norm("ln_post", width));
}

/// Whisper's encoder and two linear layers.
Part hearing(const Config& c) {
  const Config a = c.section("audio_config").with_defaults({{"num_mel_bins", 80}});
  const Submodel ears = whisper_tower(a, "MiniCPMWhisper");
  const Size width = c.dim({"hidden_size"});
  return ears.as("apm") +
         in("audio_projection_layer", "MultiModalProjector",
            linear("linear1", a.dim({"encoder_ffn_dim"}) / 4, width, Bias::yes) +
                module("relu", "ReLU") + linear("linear2", width, width, Bias::yes));
}

/// Source: vLLM 0.33 minicpmv.py, minicpmo.py and layers/resampler.py. The speech that MiniCPM-o
/// writes (`tts`) is not described: engines do not load it.
Part minicpmv(const Config& c) {
  const std::string version = version_of(c);
  const bool first = version == "2.0";
  Part p = whole_model(c, "llm", text_type(c, version)) + (first ? timm_tower(c) : tower(c)) +
           resampler(c, vision_sizes(c).hidden, first ? Positions::stored : Positions::computed);
  if (c.class_name() == "MiniCPMO" && c.flag({"init_audio"}, true)) p = std::move(p) + hearing(c);
  return with_unsplittable(std::move(p), {"SiglipEncoderLayer", "Block", "Resampler"});
}

}  // namespace headroom::model::families::minicpmv
