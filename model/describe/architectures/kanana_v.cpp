// Kanana-V: Qwen2-VL's tower without its merger, a convolutional abstractor (Honeybee,
// arXiv:2312.06742) and Llama.
#include <cmath>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::kanana_v {

/// A convolution without bias, and a norm over its channels.
Part normed(std::string_view name, Shape weight) {
  const Size out = weight.front();
  return in(name, "ConvNormAct",
            convolution("conv", "Conv2d", std::move(weight)) +
                in("bn", "LayerNorm2d",
                   tensor("weight", {out}, Role::norm) + tensor("bias", {out}, Role::norm)));
}

/// Residual blocks of three convolutions with squeeze and excitation. The one in the middle has a
/// kernel for each channel. Source: timm 1.0.20, models/regnet.py, RegStage with its defaults.
Part stage_of(Size depth, Size from, Size out) {
  Part all;
  for (Size i = 0; i < depth; ++i) {
    const Size seen = i == 0 ? from : out;
    const Size squeezed = static_cast<Size>(std::nearbyint(static_cast<double>(seen) * 0.25));
    Part block = normed("conv1", {out, seen, 1, 1}) + normed("conv2", {out, 1, 3, 3}) +
                 in("se", "SEModule",
                    convolution("fc1", "Conv2d", {squeezed, out, 1, 1}, Bias::yes) +
                        convolution("fc2", "Conv2d", {out, squeezed, 1, 1}, Bias::yes)) +
                 normed("conv3", {out, out, 1, 1});
    if (seen != out) block = std::move(block) + normed("downsample", {out, seen, 1, 1});
    all = std::move(all) + in("b" + std::to_string(i + 1), "Bottleneck", std::move(block));
  }
  return all;
}

/// Blocks, patches joined in squares of merge_size, blocks again, and a readout of linear layers.
Part abstractor(const Config& p) {
  const Size depth = p.count({"depth"}), seen = p.dim({"encoder_hidden_size"});
  const Size width = p.dim({"hidden_size"}), out = p.dim({"output_hidden_size"});
  const Size merge = p.dim({"merge_size"}), linears = p.dim({"mlp_depth"});
  if (depth > 64 || linears > 64) p.fail("depth", "expected at most 64 blocks");
  Part all;
  if (p.flag({"pos_emb"}, false))
    all = tensor("pos_emb", {1, p.dim({"pos_emb_size"}), seen}, Role::embedding);
  if (depth > 0)
    all = std::move(all) +
          in("net", "ModuleList",
             in("0", "RegStage", stage_of(depth, seen, width)) + module("1", "PatchMerge") +
                 in("2", "RegStage", stage_of(depth, times({merge, merge, width}), width)));
  Part readout = linear("0", depth > 0 ? width : seen, out, Bias::yes);
  for (Size i = 1; i < linears; ++i)
    readout = std::move(readout) + module(std::to_string(2 * i - 1), "SiLU") +
              linear(std::to_string(2 * i), out, out, Bias::yes);
  return std::move(all) + in("readout", "Sequential", std::move(readout));
}

/// `part` without the child `merger`.
Part without_merger(Part part) {
  std::erase_if(part.tensors, [](const Tensor& t) { return t.name.starts_with("merger."); });
  std::erase_if(part.modules, [](const Module& m) { return m.path.starts_with("merger"); });
  return part;
}

/// Source: vLLM 0.33, kanana_v.py.
Part kanana_v(const Config& c) {
  const Config text = section_of(c, "text_config", "llama");
  Submodel vision = qwen2_vision(section_of(c, "vision_config", "qwen2_vl_vision"));
  vision.part = without_merger(std::move(vision.part));
  return vision.as("vision_model") +
         in("abstractor", "DynamicCAbstractor", abstractor(c.section("projector_config"))) +
         whole_model(text, "language_model");
}

}  // namespace headroom::model::families::kanana_v
