#include "model/describe/architectures/vq_autoencoder.hpp"

namespace headroom::model::families {

namespace {

struct QuantiserLevels {
  std::vector<Size> widths;
  Size blocks;
};

QuantiserLevels quantiser_levels_of(const Config& c) {
  const auto multiples = c.dims({"channel_multiplier"});
  if (multiples.empty() || multiples.size() > 16) c.fail("channel_multiplier", "expected 1 to 16");
  QuantiserLevels all{{}, c.dim({"num_res_blocks"}, 2)};
  if (all.blocks > most_layers) c.fail("num_res_blocks", "more than are supported");
  for (const Size multiple : multiples)
    all.widths.push_back(c.dim({"base_channels"}, 128) * multiple);
  return all;
}

Part group_norm(std::string_view name, Size channels) {
  return in(name, "GroupNorm",
            tensor("weight", {channels}, Role::norm) + tensor("bias", {channels}, Role::norm));
}
Part residual(std::string_view name, const VqClasses& k, Size from, Size to) {
  return in(name, k.residual,
            group_norm("norm1", from) + image_convolution("conv1", from, to, 3) +
                group_norm("norm2", to) + dropout() + image_convolution("conv2", to, to, 3) +
                (from == to ? Part{} : image_convolution("nin_shortcut", from, to, 1)));
}
Part attention_block(std::string_view name, const VqClasses& k, Size channels) {
  Part p = group_norm("norm", channels);
  for (const auto leaf : {"q", "k", "v", "proj_out"})
    p = std::move(p) + image_convolution(leaf, channels, channels, 1);
  return in(name, k.attention, std::move(p));
}
Part middle(const VqClasses& k, Size channels, bool attends) {
  return in("mid", k.middle,
            residual("block_1", k, channels, channels) +
                (attends ? attention_block("attn_1", k, channels) : module("attn_1", "Identity")) +
                residual("block_2", k, channels, channels));
}

/// One resolution of `blocks` residual blocks. With `attends`, each block has attention.
Part resolution(const VqClasses& k, Size index, Size& channels, Size to, Size blocks, bool attends,
                Part resample) {
  Part block, attention;
  for (Size i = 0; i < blocks; ++i) {
    block = std::move(block) + residual(std::to_string(i), k, channels, to);
    channels = to;
    if (attends) attention = std::move(attention) + attention_block(std::to_string(i), k, to);
  }
  return in(std::to_string(index), "Module",
            in("block", "ModuleList", std::move(block)) +
                in("attn", "ModuleList", std::move(attention)) + std::move(resample));
}

/// A resolution of an encoder made of stages.
Part stage(const VqClasses& k, Size index, Size& channels, Size to, Size blocks, bool attends,
           bool last) {
  Part layers;
  for (Size i = 0; i < blocks; ++i) {
    layers = std::move(layers) +
             in(std::to_string(i), k.block,
                residual("resnet", k, channels, to) + (attends ? attention_block("attention", k, to)
                                                               : module("attention", "Identity")));
    channels = to;
  }
  return in(std::to_string(index), k.stage,
            in("layers", "ModuleList", std::move(layers)) +
                (last ? module("downsample", "Identity")
                      : in("downsample", k.down, image_convolution("conv", to, to, 3))));
}

}  // namespace

Part image_convolution(std::string_view name, Size from, Size to, Size kernel) {
  return convolution(name, "Conv2d", {to, from, kernel, kernel}, Bias::yes);
}

Part vq_encoder(const Config& c, const VqClasses& k, const std::function<bool(Size)>& attends,
                bool middle_attention) {
  const auto [widths, blocks] = quantiser_levels_of(c);
  const Size latent = c.dim({"latent_channels"}, 256), base = c.dim({"base_channels"}, 128);
  const auto levels = static_cast<Size>(widths.size());
  Size channels = base;
  Part down;
  for (Size level = 0; level < levels; ++level) {
    const Size width = widths[static_cast<std::size_t>(level)];
    if (!k.stage.empty()) {
      down = std::move(down) +
             stage(k, level, channels, width, blocks, attends(level), level + 1 == levels);
      continue;
    }
    down = std::move(down) +
           resolution(k, level, channels, width, blocks, attends(level),
                      level + 1 == levels
                          ? Part{}
                          : in("downsample", k.down, image_convolution("conv", width, width, 3)));
  }
  return image_convolution("conv_in", c.dim({"in_channels"}, 3), base, 3) +
         in(k.stage.empty() ? "down" : "stages", "ModuleList", std::move(down)) +
         middle(k, channels, middle_attention) + group_norm("norm_out", channels) +
         image_convolution("conv_out", channels,
                           c.flag({"double_latent"}, false) ? 2 * latent : latent, 3);
}

Part vq_decoder(const Config& c, const VqClasses& k) {
  const auto [widths, blocks] = quantiser_levels_of(c);
  const auto levels = static_cast<Size>(widths.size());
  Size channels = widths.back();
  Part decoder = image_convolution("conv_in", c.dim({"latent_channels"}, 256), channels, 3) +
                 middle(k, channels, true);
  Part up;
  for (Size level = levels; level-- > 0;) {
    const Size width = widths[static_cast<std::size_t>(level)];
    up = std::move(up) +
         resolution(k, levels - 1 - level, channels, width, blocks + 1, level + 1 == levels,
                    level == 0 ? Part{}
                               : in("upsample", k.up, image_convolution("conv", width, width, 3)));
  }
  return std::move(decoder) + in("up", "ModuleList", std::move(up)) +
         group_norm("norm_out", channels) +
         image_convolution("conv_out", channels, c.dim({"out_channels"}, 3), 3);
}

}  // namespace headroom::model::families
