// Chameleon (arXiv:2405.09818): Llama over words and images, the latter as codes of a VQ encoder.
#include <algorithm>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/vq_autoencoder.hpp"

namespace headroom::model::families::chameleon {

Part autoencoder(const Config& v) {
  const std::string k = "ChameleonVQVAE";
  const VqClasses names{k + "EncoderResnetBlock", k + "EncoderAttnBlock",
                        k + "EncoderConvDownsample", "", "Module"};
  const Size latent = v.dim({"latent_channels"}), embed = v.dim({"embed_dim"});
  const bool vanilla = v.text({"attn_type"}, "vanilla") == "vanilla";
  const auto sides = v.dims({"attn_resolutions"});
  const Size side = v.dim({"resolution"});
  const auto attends = [&](Size level) {
    return vanilla && std::find(sides.begin(), sides.end(), side >> level) != sides.end();
  };
  return in("encoder", k + "Encoder", vq_encoder(v, names, attends, vanilla)) +
         in("quantize", k + "VectorQuantizer",
            embedding("embedding", v.dim({"num_embeddings"}), embed)) +
         image_convolution("quant_conv", latent, embed, 1) +
         image_convolution("post_quant_conv", embed, latent, 1);
}

/// A separate scale and shift for each head.
Part norm_of_heads(std::string_view name, Size heads, Size dim) {
  return in(name, "ChameleonLayerNorm",
            tensor("weight", {heads, dim}, Role::norm) + tensor("bias", {heads, dim}, Role::norm));
}

/// Source: transformers 5.23, models/chameleon. With `swin_norm` the norms come after attention and
/// feed-forward.
Part chameleon(const Config& c) {
  const Classes k{"Chameleon"};
  Common s = common_of(c, {.kv_heads = 32});
  s.heads.dim = s.hidden / s.heads.query;
  const Bias bias = c.bias({"attention_bias"}, false), mlp_bias = c.bias({"mlp_bias"}, false);
  const std::string layer = k(c.flag({"swin_norm"}, false) ? "SwinDecoderLayer" : "DecoderLayer");
  Part body =
      embedding("embed_tokens", c.dim({"vocab_size"}), s.hidden) +
      stack("layers", layer, s.layers,
            [&] {
              return in("self_attn", k("Attention"),
                        attention(s.hidden, s.heads, bias, bias) +
                            norm_of_heads("q_norm", s.heads.query, s.heads.dim) +
                            norm_of_heads("k_norm", s.heads.kv, s.heads.dim)) +
                     gated_rest(s, "Chameleon", mlp_bias);
            }) +
      rms_norm("norm", k("RMSNorm"), s.hidden) +
      in("vqmodel", k("VQVAE"), autoencoder(section_of(c, "vq_config", "chameleon_vqgan"))) +
      rotary(k("RotaryEmbedding"), rotated_if_scaled(c, s.heads.dim));
  return with_unsplittable(causal_lm(c, k("Model"), std::move(body)),
                           {k("DecoderLayer"), k("SwinDecoderLayer"), k("VQVAEEncoderAttnBlock"),
                            k("VQVAEEncoderResnetBlock"), k("VQVAEVectorQuantizer")});
}

}  // namespace headroom::model::families::chameleon
