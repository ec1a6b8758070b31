// Janus (arXiv:2410.13848): a tower that reads images, a VQ autoencoder that writes images, and
// Llama.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/tower_layers.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/architectures/vq_autoencoder.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families::janus {

const std::string k = "Janus";

Part tower(const Config& v) {
  const Size width = v.dim({"hidden_size"}), patch = v.dim({"patch_size"}, 16);
  const Size inner =
      whole_width(v, "mlp_ratio", static_cast<double>(width) * v.number({"mlp_ratio"}, 4.0));
  const Size positions = patches(v);
  const Bias bias = v.bias({"attention_bias"}, true);
  const std::string act = activation_class(v, {"hidden_act"}, "gelu");
  const auto norm = [&](std::string_view name) {
    return v.flag({"use_qk_norm"}, false) ? layer_norm(name, width) : module(name, "Identity");
  };
  const Part layer =
      layer_norm("layer_norm1", width) +
      in("self_attn", k + "VisionAttention",
         linear("q_proj", width, width, bias) + linear("k_proj", width, width, bias) +
             linear("v_proj", width, width, bias) +
             linear("projection_layer", width, width, Bias::yes) +
             module("projection_dropout",
                    v.number({"projection_dropout"}, 0.0) > 0 ? "Dropout" : "Identity") +
             norm("q_norm") + norm("k_norm")) +
      layer_norm("layer_norm2", width) +
      in("mlp", k + "VisionMLP",
         module("activation_fn", act) + linear("fc1", width, inner, Bias::yes) +
             linear("fc2", inner, width, Bias::yes) + dropout("dropout1") + dropout("dropout2"));
  return in("embeddings", k + "VisionEmbeddings",
            convolution("patch_embedding", "Conv2d",
                        {width, v.dim({"num_channels"}, 3), patch, patch}, Bias::yes) +
                embedding("position_embedding", positions, width) + position_ids(positions)) +
         in("encoder", k + "VisionEncoder",
            stack("layers", k + "VisionEncoderLayer", v.dim({"num_hidden_layers"}),
                  [&] { return layer; })) +
         layer_norm("post_layernorm", width);
}

/// fc1, then layers of equal width. All layers share one activation.
Part aligner(std::string_view name, std::string_view class_name, const Config& c, Size in_dim,
             Size layers) {
  const Size out = c.dim({"projection_dim"}, 2048);
  if (layers > most_layers) c.fail("depth", "more layers than are supported");
  Part more;
  for (Size i = 0; i + 1 < layers; ++i)
    more = std::move(more) + linear(std::to_string(i), out, out, Bias::yes);
  return in(name, class_name,
            linear("fc1", in_dim, out, Bias::yes) +
                in("hidden_layers", "ModuleList", std::move(more)) +
                module("activation_fn", activation_class(c, {"hidden_act"}, "gelu")));
}

Part autoencoder(const Config& c) {
  const VqClasses names{k + "VQVAEResnetBlock", k + "VQVAEAttnBlock", k + "VQVAEConvDownsample",
                        k + "VQVAEConvUpsample", k + "VQVAEMidBlock"};
  const Size latent = c.dim({"latent_channels"}, 256), embed = c.dim({"embed_dim"}, 8);
  const auto smallest = static_cast<Size>(c.dims({"channel_multiplier"}).size()) - 1;
  return in("encoder", k + "VQVAEEncoder",
            vq_encoder(c, names, [&](Size level) { return level == smallest; })) +
         in("quantize", k + "VQVAEVectorQuantizer",
            embedding("embedding", c.dim({"num_embeddings"}, 16384), embed)) +
         image_convolution("quant_conv", latent, embed, 1) +
         image_convolution("post_quant_conv", embed, latent, 1) +
         in("decoder", k + "VQVAEDecoder", vq_decoder(c, names));
}

/// Source: transformers 5.23, models/janus/modeling_janus.py.
Part janus(const Config& c) {
  const Config text = section_of(c, "text_config", "llama");
  const Config v = section_of(c, "vision_config", "janus_vision_model");
  const Config vq = section_of(c, "vq_config", "janus_vqgan");
  const Submodel language = text_model(text);
  const Size codes = vq.dim({"num_embeddings"}, 16384), embed = vq.dim({"embed_dim"}, 8);
  const Size projected = vq.dim({"projection_dim"}, 2048);
  Part body =
      in("model", k + "Model",
         in("vision_model", k + "VisionModel", tower(v)) +
             aligner("aligner", k + "VisionAlignerMLP", v, v.dim({"hidden_size"}),
                     v.dim({"depth"}, 2)) +
             in("vqmodel", k + "VQVAE", autoencoder(vq)) +
             embedding("generation_embeddings", codes, embed) +
             aligner("generation_aligner", k + "VQVAEAlignerMLP", vq, embed,
                     vq.dim({"num_hidden_layers"}, 2)) +
             in("generation_head", k + "VQVAEHead",
                linear("proj_out", vq.dim({"image_token_embed_dim"}, 2048), projected, Bias::yes) +
                    module("activation_fn", activation_class(vq, {"hidden_act"}, "gelu")) +
                    linear("vision_head", projected, codes, Bias::yes)) +
             language.as("language_model"));
  return with_language_head(
      with_unsplittable(std::move(body), {k + "VisionEncoderLayer", k + "VQVAEAttnBlock",
                                          k + "VQVAEResnetBlock", k + "VQVAEVectorQuantizer"}),
      text, head_is_tied(c, text, true, Inherit::no), "model.language_model.embed_tokens.weight");
}

// ---- DeepSeek's own files -----------------------------------------------------------------------

struct SiglipRow {
  std::string_view name;
  Size width, layers, inner, patch;
};
/// Source: SGLang 0.5.23 models/deepseek_janus_pro.py, SigLIP_MODEL_CONFIG.
constexpr SiglipRow siglip_rows[] = {{"siglip_large_patch16_384", 1024, 24, 4096, 16},
                                     {"siglip_so400m_patch14_384", 1152, 27, 4304, 14},
                                     {"siglip_so400m_patch14_224", 1152, 27, 4304, 14}};

const SiglipRow& siglip_row(const Config& params) {
  const std::string name = params.text({"model_name"});
  std::string known;
  for (const SiglipRow& row : siglip_rows) {
    if (row.name == name) return row;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  params.fail("model_name", fmt::format("found '{}', expected one of {}", name, known));
}

/// SigLIP with timm's names. Its pooling is stored and not used.
Part timm_siglip(const Config& params, const SiglipRow& t) {
  const Size side = params.dim({"image_size"}, 384) / t.patch, width = t.width;
  return tensor("pos_embed", {1, side * side, width}, Role::embedding) +
         in("patch_embed", "PatchEmbed",
            convolution("proj", "Conv2d", {width, 3, t.patch, t.patch}, Bias::yes)) +
         stack("blocks", "VisionTransformerBlock", t.layers,
               [&] { return timm_layer(width, t.inner); }) +
         layer_norm("norm", width) + timm_pooling(width, t.inner);
}

/// Linear layers with GELU between them.
Part mlp_projector(const Config& c, std::string_view key, std::string_view name) {
  const Config params = c.section(key).section("params");
  if (const std::string type = params.text({"projector_type"}, "mlp_gelu"); type != "mlp_gelu")
    params.fail("projector_type", "found '" + type + "', expected mlp_gelu");
  const Size width = params.dim({"n_embed"}), depth = params.dim({"depth"}, 1);
  if (depth > most_layers) params.fail("depth", "more layers than are supported");
  Part layers = linear("0", params.dim({"input_dim"}), width, Bias::yes);
  for (Size i = 1; i < depth; ++i)
    layers = std::move(layers) + module(std::to_string(2 * i - 1), "GELU") +
             linear(std::to_string(2 * i), width, width, Bias::yes);
  return in(name, "MlpProjector", in("layers", "Sequential", std::move(layers)));
}

/// Source: SGLang 0.5.23 models/deepseek_janus_pro.py, MultiModalityCausalLM.
Part multi_modality(const Config& c) {
  const Config text = with_class_defaults(c.section("language_config"), "llama");
  const Config params = c.section("vision_config").section("params");
  const Config written = c.section("gen_vision_config").section("params");
  const Config head = c.section("gen_head_config").section("params");
  const Config vq = with_class_defaults(
      written.with_defaults({{"channel_multiplier", {1, 1, 2, 2, 4}}}), "janus_vqgan");
  const Size codes = written.dim({"image_token_size"}), token = head.dim({"image_token_embed"});
  const SiglipRow& t = siglip_row(params);
  Part p = in("vision_model", "CLIPVisionTower",
              in("vision_tower", "VisionTransformer", timm_siglip(params, t))) +
           mlp_projector(c, "aligner_config", "aligner") +
           in("gen_vision_model", "VQModel",
              autoencoder(vq) + at("quantize", tensor("codebook_used", {65536}, Role::other))) +
           mlp_projector(c, "gen_aligner_config", "gen_aligner") +
           in("gen_head", "vision_head",
              linear("output_mlp_projector", head.dim({"n_embed"}), token, Bias::yes) +
                  module("vision_activation", "GELU") +
                  linear("vision_head", token, head.dim({"image_token_size"}), Bias::yes)) +
           embedding("gen_embed", codes, written.dim({"n_embed"})) +
           whole_model(text, "language_model", "llama");
  return with_unsplittable(std::move(p), {"VisionTransformerBlock"});
}

}  // namespace headroom::model::families::janus
