// Emu3 with images: the text model of llama.cpp and a convolutional autoencoder with a codebook
// (VQGAN, arXiv:2012.09841). The autoencoder also merges frames of videos.
#include <algorithm>
#include <cmath>

#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families::emu3 {

const std::string k = "Emu3VQVAE";

/// Norms of the encoder read only pixels. Norms of the decoder also read codes of `codes`
/// dimensions.
struct Autoencoder {
  const Config& c;
  std::vector<Size> widths;
  std::vector<Size> attended;  ///< levels with attention
  Size blocks, latent, codes, steps;

  bool attends(Size level) const {
    return std::find(attended.begin(), attended.end(), level) != attended.end();
  }
};

Autoencoder autoencoder_of(const Config& c) {
  Autoencoder a{c,
                {},
                c.dims({"attn_resolutions"}),
                c.dim({"num_res_blocks"}, 2),
                c.dim({"latent_channels"}, 4),
                c.dim({"embed_dim"}, 4),
                0};
  const auto multiples = c.dims({"channel_multiplier"});
  if (multiples.empty() || multiples.size() > 16) c.fail("channel_multiplier", "expected 1 to 16");
  if (a.blocks > most_layers) c.fail("num_res_blocks", "more than are supported");
  for (const Size multiple : multiples)
    a.widths.push_back(times({c.dim({"base_channels"}, 256), multiple}));
  a.steps =
      static_cast<Size>(std::log2(static_cast<double>(c.dim({"temporal_downsample_factor"}, 4))));
  return a;
}

enum class Side : bool { encoder, decoder };

Part plain_norm(std::string_view name, std::string_view class_name, Size channels) {
  return in(name, class_name,
            tensor("weight", {channels}, Role::norm) + tensor("bias", {channels}, Role::norm));
}
Part flat(std::string_view name, Size from, Size to, Size kernel) {
  return convolution(name, "Conv2d", {to, from, kernel, kernel}, Bias::yes);
}
Part norm(const Autoencoder& a, Side side, std::string_view name, Size channels,
          std::string_view plain = "GroupNorm") {
  if (side == Side::encoder) return plain_norm(name, plain, channels);
  return in(name, k + "SpatialNorm",
            plain_norm("norm_layer", "GroupNorm", channels) + flat("conv_y", a.codes, channels, 1) +
                flat("conv_b", a.codes, channels, 1));
}
Part residual(const Autoencoder& a, Side side, std::string_view name, Size from, Size to) {
  return in(name, k + "ResnetBlock",
            norm(a, side, "norm1", from) + norm(a, side, "norm2", to) + flat("conv1", from, to, 3) +
                flat("conv2", to, to, 3) +
                (from == to ? Part{} : flat("nin_shortcut", from, to, 1)));
}
Part attention_block(const Autoencoder& a, std::string_view name) {
  const Size hidden = a.c.dim({"hidden_size"}, 1024);
  Part p;
  for (const auto leaf : {"k_proj", "v_proj", "q_proj", "out_proj"})
    p = std::move(p) + linear(leaf, hidden, hidden, Bias::yes);
  return in(name, k + "AttentionBlock", std::move(p));
}

/// One resolution: residual blocks, then `resample`. Levels with attention add an attention block
/// and a norm before it to each residual block.
Part resolution(const Autoencoder& a, Side side, Size level, Size& channels, Size blocks,
                Part resample) {
  Part block, attention, norms;
  const Size to = a.widths[static_cast<std::size_t>(level)];
  for (Size i = 0; i < blocks; ++i) {
    block = std::move(block) + residual(a, side, std::to_string(i), channels, to);
    channels = to;
    if (!a.attends(level)) continue;
    attention = std::move(attention) + attention_block(a, std::to_string(i));
    norms = std::move(norms) + norm(a, side, std::to_string(i), to);
  }
  return in(std::to_string(level), "Module",
            in("block", "ModuleList", std::move(block)) +
                in("attn", "ModuleList", std::move(attention)) +
                in("attn_norms", "ModuleList", std::move(norms)) + std::move(resample));
}
Part middle(const Autoencoder& a, Side side, Size channels) {
  return in("middle_block", k + "MiddleBlock",
            residual(a, side, "block_1", channels, channels) + attention_block(a, "attn_1") +
                norm(a, side, "attn_norm", channels, k + "GroupNorm") +
                residual(a, side, "block_2", channels, channels));
}

/// A convolution over frames and pixels.
Part deep(std::string_view name, Size from, Size to, Size frames, Size kernel) {
  return in(name, k + "Conv3d",
            convolution("conv", "Conv3d", {to, from, frames, kernel, kernel}, Bias::yes));
}
Part over_time(const Autoencoder& a, std::string_view kind, Size frames, Size channels) {
  return list("time_conv", a.steps, [&](const std::string& name, Size) {
    return in(name, k + "Temporal" + std::string(kind),
              deep("conv", channels, channels, frames, 3));
  });
}
Part residuals_over_time(const Autoencoder& a, Size channels) {
  return list("time_res_stack", a.blocks, [&](const std::string& name, Size) {
    return in(
        name, k + "TemporalResnetBlock",
        batch_norm("norm1", "BatchNorm3d", channels) + deep("conv1", channels, channels, 3, 3) +
            batch_norm("norm2", "BatchNorm3d", channels) + deep("conv2", channels, channels, 3, 3));
  });
}

Part encoder(const Autoencoder& a) {
  const Size base = a.c.dim({"base_channels"}, 256);
  const Size out = a.c.flag({"double_latent"}, false) ? 2 * a.latent : a.latent;
  const auto levels = static_cast<Size>(a.widths.size());
  Size channels = base;
  Part down;
  for (Size level = 0; level < levels; ++level) {
    const Size width = a.widths[static_cast<std::size_t>(level)];
    channels = level == 0 ? base : a.widths[static_cast<std::size_t>(level - 1)];
    down = std::move(down) + resolution(a, Side::encoder, level, channels, a.blocks,
                                        level + 1 == levels
                                            ? Part{}
                                            : in("downsample", k + "EncoderConvDownsample",
                                                 flat("conv", width, width, 3)));
  }
  return in("encoder", k + "Encoder",
            flat("conv_in", a.c.dim({"in_channels"}, 3), base, 3) +
                in("down_block", k + "DownBlock", in("down", "ModuleList", std::move(down))) +
                middle(a, Side::encoder, channels) + plain_norm("norm_out", "GroupNorm", channels) +
                flat("conv_out", channels, out, 3) + over_time(a, "Downsample", 4, out) +
                residuals_over_time(a, out));
}

/// The loop builds the last level first, as the decoder runs. The class registers the first level
/// first.
Part decoder(const Autoencoder& a) {
  Size channels = a.widths.back();
  const Part first = residuals_over_time(a, a.latent) + over_time(a, "Upsample", 3, a.latent) +
                     flat("conv_in", a.latent, channels, 3) + middle(a, Side::decoder, channels);
  Part up;
  for (auto level = static_cast<Size>(a.widths.size()); level-- > 0;) {
    const Size width = a.widths[static_cast<std::size_t>(level)];
    up = resolution(a, Side::decoder, level, channels, a.blocks + 1,
                    level == 0 ? Part{}
                               : in("upsample", k + "EncoderConvUpsample",
                                    flat("conv", width, width, 3))) +
         std::move(up);
  }
  return in("decoder", k + "Decoder",
            first + in("up_block", k + "UpBlock", in("up", "ModuleList", std::move(up))) +
                norm(a, Side::decoder, "norm_out", channels) +
                flat("conv_out", channels, a.c.dim({"out_channels"}, 3), 3));
}

/// Source: transformers 5.23, models/emu3/{configuration,modeling}_emu3.py.
Part emu3_images(const Config& c) {
  const Config text = section_of(c, "text_config", "emu3_text_model");
  const Config v = section_of(c, "vq_config", "emu3_vqgan");
  const Autoencoder a = autoencoder_of(v);
  const Submodel language = text_model(text);
  const Part pictures = encoder(a) + decoder(a) +
                        in("quantize", k + "VectorQuantizer",
                           embedding("embedding", v.dim({"codebook_size"}, 32768), a.codes)) +
                        deep("quant_conv", a.latent, a.codes, 3, 1) +
                        deep("post_quant_conv", a.codes, a.latent, 3, 1);
  Part body = in("model", "Emu3Model", language.as("text_model") + in("vqmodel", k, pictures));
  return with_language_head(
      with_unsplittable(std::move(body), {k + "TemporalResnetBlock", k + "AttentionBlock",
                                          k + "ResnetBlock", k + "VectorQuantizer"}),
      text, head_is_tied(c, text, false, Inherit::no), "model.text_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::emu3
