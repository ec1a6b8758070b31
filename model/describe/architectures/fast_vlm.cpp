// FastVLM (arXiv:2412.13303): a tower, a projector and a text model. The tower is timm's FastViTHD,
// a convolutional network with attention in its last two stages. The description has merged
// branches, as after training.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families::fast_vlm {

Part conv(std::string_view name, Size from_group, Size to, Size kernel, Bias bias = Bias::yes) {
  return convolution(name, "Conv2d", {to, from_group, kernel, kernel}, bias);
}
Part identity(std::string_view name) { return module(name, "Identity"); }
/// A merged convolution. `from_group` counts the input channels of one group.
Part mobile_one(std::string_view name, Size from_group, Size to, Size kernel) {
  return in(name, "MobileOneBlock",
            identity("se") + conv("reparam_conv", from_group, to, kernel) + module("act", "GELU"));
}
Part layer_scale(std::string_view name, Size width) {
  return in(name, "LayerScale2d", tensor("gamma", {width, 1, 1}, Role::other));
}
Part conv_mlp(Size width) {
  return in("mlp", "ConvMlp",
            in("conv", "ConvNormAct",
               conv("conv", 1, width, 7, Bias::no) + batch_norm("bn", "BatchNormAct2d", width) +
                   identity("bn.drop") + identity("bn.act")) +
                conv("fc1", width, 4 * width, 1) + module("act", "GELU") +
                conv("fc2", 4 * width, width, 1) + dropout("drop"));
}
Part mixing_block(Size width) {
  return in("token_mixer", "RepMixer", conv("reparam_conv", 1, width, 3)) + conv_mlp(width) +
         layer_scale("layer_scale", width) + identity("drop_path");
}
Part attending_block(Size width) {
  return in("norm", "LayerNorm2d",
            tensor("weight", {width}, Role::norm) + tensor("bias", {width}, Role::norm)) +
         in("token_mixer", "Attention",
            linear("qkv", width, 3 * width) + dropout("attn_drop") +
                linear("proj", width, width, Bias::yes) + dropout("proj_drop")) +
         layer_scale("layer_scale_1", width) + identity("drop_path1") + conv_mlp(width) +
         layer_scale("layer_scale_2", width) + identity("drop_path2");
}

/// Source: timm 1.0, models/fastvit.py, fastvit_mci3, as built by transformers' wrapper, without
/// classes.
Part fastvit(const Config& v) {
  const std::string name = v.text({"architecture"}, "fastvit_mci3");
  if (name != "fastvit_mci3")
    v.fail("architecture", "found '" + name + "', only fastvit_mci3 is described");
  if (!v.section_or_empty("model_args").flag({"inference_mode"}, false))
    v.fail("model_args", "inference_mode is not true: the branches of training are not described");
  struct Stage {
    Size width, depth;
    bool attends;
  };
  constexpr Stage stages[] = {
      {96, 2, false}, {192, 12, false}, {384, 24, false}, {768, 4, true}, {1536, 2, true}};
  Part all;
  Size from = stages[0].width, index = 0;
  for (const auto& [width, depth, attends] : stages) {
    Part blocks;
    for (Size i = 0; i < depth; ++i)
      blocks =
          std::move(blocks) + in(std::to_string(i), attends ? "AttentionBlock" : "RepMixerBlock",
                                 attends ? attending_block(width) : mixing_block(width));
    const Part down =
        index == 0
            ? identity("downsample")
            : in("downsample", "PatchEmbed",
                 in("proj", "Sequential",
                    in("0", "ReparamLargeKernelConv",
                       conv("reparam_conv", 1, width, 7) + identity("se") + module("act", "GELU")) +
                        mobile_one("1", width, width, 1)));
    const Part positions =
        attends ? in("pos_emb", "RepConditionalPosEnc", conv("reparam_conv", 1, width, 7))
                : identity("pos_emb");
    all = std::move(all) + in(std::to_string(index++), "FastVitStage",
                              down + positions + in("blocks", "Sequential", std::move(blocks)));
    from = width;
  }
  const Size first = stages[0].width, out = 2 * from, squeezed = out / 16;
  return in("stem", "Sequential",
            mobile_one("0", 3, first, 3) + mobile_one("1", 1, first, 3) +
                mobile_one("2", first, first, 1)) +
         in("stages", "Sequential", std::move(all)) +
         in("final_conv", "MobileOneBlock",
            in("se", "SEModule",
               conv("fc1", out, squeezed, 1) + identity("bn") + module("act", "ReLU") +
                   conv("fc2", squeezed, out, 1) + module("gate", "Sigmoid")) +
                conv("reparam_conv", 1, out, 3) + module("act", "GELU")) +
         in("head", "ClassifierHead",
            in("global_pool", "SelectAdaptivePool2d",
               module("pool", "AdaptiveAvgPool2d") + module("flatten", "Flatten")) +
                dropout("drop") + identity("fc") + identity("flatten"));
}

/// Source: transformers 5.23, models/fast_vlm/modeling_fast_vlm.py.
Part fast_vlm(const Config& c) {
  const Config text = section_of(c, "text_config", "qwen2");
  const Config v = section_of(c, "vision_config", "timm_wrapper");
  const Submodel language = text_model(text);
  const Bias bias = c.bias({"multimodal_projector_bias"}, true);
  Part body = in("model", "FastVlmModel",
                 in("vision_tower", "TimmWrapperModel", in("timm_model", "FastVit", fastvit(v))) +
                     in("multi_modal_projector", "FastVlmMultiModalProjector",
                        linear("linear_1", v.dim({"hidden_size"}, 3072), language.width, bias) +
                            module("act", activation_class(c, {"projector_hidden_act"}, "gelu")) +
                            linear("linear_2", language.width, language.width, bias)) +
                     language.as("language_model"));
  return with_language_head(with_unsplittable(std::move(body), {"TimmWrapperModel"}), text,
                            head_is_tied(c, text, false, Inherit::no),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::fast_vlm
