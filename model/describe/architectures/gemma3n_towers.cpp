// Gemma 3n with its towers: MobileNet V5 (timm's mobilenetv5_300m_enc) for images and a conformer
// (USM, arXiv:2303.01037) for audio.
#include <algorithm>
#include <boost/json.hpp>
#include <utility>
#include <vector>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/families.hpp"
#include "model/describe/blocks/decoder.hpp"

namespace headroom::model::families::gemma3n_towers {

const Classes k{"Gemma3n"};

Part norm(std::string_view name, Size dim) { return rms_norm(name, k("RMSNorm"), dim); }

// ---- images -------------------------------------------------------------------------------------

enum class Act { none, gelu };
enum class Scaled : bool { no, yes };

/// The norm of a convolution. The activation is part of it.
Part norm_act(std::string_view name, Size dim, Act act) {
  return in(name, "RmsNormAct2d",
            tensor("weight", {dim}, Role::norm) + module("drop", "Identity") +
                module("act", act == Act::gelu ? "GELU" : "Identity"));
}

/// Strided convolutions pad as TensorFlow does.
std::string_view conv_class(Size stride) { return stride == 1 ? "Conv2d" : "Conv2dSame"; }

Part conv_norm(std::string_view name, Shape weight, Act act, Size stride = 1, Bias b = Bias::no) {
  const Size out = weight.front();
  return in(
      name, "ConvNormAct",
      convolution("conv", conv_class(stride), std::move(weight), b) + norm_act("bn", out, act));
}

/// A convolution of kernel 3 to `expansion` times the width, then one of kernel 1 back
/// (EfficientNet-EdgeTPU).
Submodel edge_residual(Size from, Size to, Size expansion, Size stride) {
  const Size wide = from * expansion;
  return {"EdgeResidual",
          convolution("conv_exp", conv_class(stride), {wide, from, 3, 3}) +
              norm_act("bn1", wide, Act::gelu) + module("aa", "Identity") +
              module("se", "Identity") + convolution("conv_pwl", "Conv2d", {to, wide, 1, 1}) +
              norm_act("bn2", to, Act::none) + module("drop_path", "Identity"),
          to};
}

/// MobileNet V4's block (arXiv:2404.10518): an expansion and a projection. Depthwise convolutions
/// have kernel `first` before the expansion and kernel `middle` after it (0: none).
Submodel inverted_residual(Size from, Size to, Size wide, Size first, Size middle,
                           Scaled scaled = Scaled::yes) {
  const auto depthwise = [&](std::string_view name, Size dim, Size kernel, Act act, Size stride) {
    return kernel == 0 ? module(name, "Identity")
                       : conv_norm(name, {dim, 1, kernel, kernel}, act, stride);
  };
  return {"UniversalInvertedResidual",
          depthwise("dw_start", from, first, Act::none, 1) +
              conv_norm("pw_exp", {wide, from, 1, 1}, Act::gelu) +
              depthwise("dw_mid", wide, middle, Act::gelu, 2) + module("se", "Identity") +
              conv_norm("pw_proj", {to, wide, 1, 1}, Act::none) + module("dw_end", "Identity") +
              (scaled == Scaled::yes
                   ? in("layer_scale", "LayerScale2d", tensor("gamma", {to}, Role::other))
                   : module("layer_scale", "Identity")) +
              module("drop_path", "Identity"),
          to};
}

/// Attention in which all heads share one key and value. At stride 2, keys and values come from a
/// map with half the side.
Submodel mobile_attention(Size dim, Size heads, Size head_dim, Size stride) {
  const auto one = [&](std::string_view name) {
    Part p;
    if (stride > 1)
      p = convolution("down_conv", "Conv2dSame", {dim, 1, 3, 3}) +
          rms_norm("norm", "RmsNorm2d", dim);
    return in(name, "Sequential",
              std::move(p) + convolution("proj", "Conv2d", {head_dim, dim, 1, 1}));
  };
  return {"MobileAttention",
          norm_act("norm", dim, Act::none) +
              in("attn", "MultiQueryAttention2d",
                 in("query", "Sequential",
                    convolution("proj", "Conv2d", {heads * head_dim, dim, 1, 1})) +
                     one("key") + one("value") + dropout("attn_drop") +
                     in("output", "Sequential",
                        convolution("proj", "Conv2d", {dim, heads * head_dim, 1, 1}) +
                            dropout("drop"))) +
              in("layer_scale", "LayerScale2d", tensor("gamma", {dim}, Role::other)) +
              module("drop_path", "Identity"),
          dim};
}

Part stage(std::string_view name, const std::vector<Submodel>& blocks) {
  Part list;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    list = std::move(list) + blocks[i].as(std::to_string(i));
  return in(name, "Sequential", std::move(list));
}

/// Source: timm 1.0.31, models/mobilenetv5.py, _gen_mobilenet_v5.
Part mobilenet_v5() {
  std::vector<Submodel> first{edge_residual(64, 128, 4, 2), edge_residual(128, 128, 4, 1),
                              edge_residual(128, 128, 4, 1)};
  std::vector<Submodel> second{inverted_residual(128, 256, 768, 3, 5)};
  for (const Size kernel : {5, 3, 5, 3})
    second.push_back(inverted_residual(256, 256, 1024, kernel, 0));
  std::vector<Submodel> third{inverted_residual(256, 640, 1536, 5, 5)};
  for (int i = 0; i < 7; ++i) third.push_back(inverted_residual(640, 640, 2560, 5, 0));
  third.push_back(inverted_residual(640, 640, 640, 0, 0));
  for (int i = 0; i < 14; ++i) {
    third.push_back(mobile_attention(640, 12, 64, 2));
    third.push_back(inverted_residual(640, 640, 1280, 0, 0));
  }
  std::vector<Submodel> fourth{inverted_residual(640, 1280, 3840, 5, 5)};
  for (int i = 0; i < 19; ++i) {
    fourth.push_back(mobile_attention(1280, 16, 96, 1));
    fourth.push_back(inverted_residual(1280, 1280, 2560, 0, 0));
  }
  return conv_norm("conv_stem", {64, 3, 3, 3}, Act::gelu, 2, Bias::yes) +
         in("blocks", "Sequential",
            stage("0", first) + stage("1", second) + stage("2", third) + stage("3", fourth)) +
         in("msfa", "MobileNetV5MultiScaleFusionAdapter",
            inverted_residual(640 + 1280, 2048, 2 * (640 + 1280), 0, 0, Scaled::no).as("ffn") +
                rms_norm("norm", "RmsNorm2d", 2048));
}

Part vision_tower(const Config& v) {
  const std::string encoder = v.text({"architecture"}, "mobilenetv5_300m_enc");
  if (encoder != "mobilenetv5_300m_enc")
    v.fail("architecture", "found '" + encoder + "', described is mobilenetv5_300m_enc");
  return in("vision_tower", "TimmWrapperModel",
            in("timm_model", "MobileNetV5Encoder", mobilenet_v5()));
}

// ---- audio --------------------------------------------------------------------------------------

Part clipping() { return buffer("gradient_clipping", {}); }

/// Convolutions over time and frequency. The config lists kernels and strides as pairs.
Part subsampling(const Config& a, Size width) {
  const auto pairs = [&](std::string_view key) {
    std::vector<std::pair<Size, Size>> all;
    const auto* list = a.object().if_contains(key);
    if (list == nullptr || !list->is_array()) a.fail(key, "expected a list of two pairs");
    const auto wrong = [&] { a.fail(key, "expected a list of two pairs of sizes up to 65536"); };
    for (const auto& pair : list->get_array()) {
      if (!pair.is_array() || pair.get_array().size() != 2) wrong();
      for (const auto& size : pair.get_array())
        if (!size.is_int64() || size.get_int64() < 1 || size.get_int64() > 65536) wrong();
      all.emplace_back(pair.get_array()[0].get_int64(), pair.get_array()[1].get_int64());
    }
    if (all.size() != 2) a.fail(key, "expected a list of two pairs");
    return all;
  };
  const auto channels = a.dims({"sscp_conv_channel_size"});
  if (channels.size() != 2) a.fail("sscp_conv_channel_size", "expected a list of two");
  const auto kernels = pairs("sscp_conv_kernel_size"), strides = pairs("sscp_conv_stride_size");
  Size bins = a.dim({"input_feat_size"}, 128), from = 1;
  Part p;
  for (std::size_t i = 0; i < 2; ++i) {
    if (bins + 2 < kernels[i].second)
      a.fail("sscp_conv_kernel_size", "found a kernel wider than what it runs over");
    bins = (bins + 2 - kernels[i].second) / strides[i].second + 1;
    p = std::move(p) +
        in("conv_" + std::to_string(i), k("AudioSSCPConvBlock"),
           convolution("conv", "Conv2d", {channels[i], from, kernels[i].first, kernels[i].second}) +
               rms_norm("norm", k("AudioCumulativeGroupNorm"), channels[i]) +
               module("activation", "ReLU"));
    from = channels[i];
  }
  return in("subsample_conv_projection", k("AudioSubSampleConvProjection"),
            std::move(p) + linear("input_proj_linear", from * bins, width));
}

Part audio_tower(const Config& a) {
  const Size width = a.dim({"hidden_size"}), heads = a.dim({"conf_num_attention_heads"}, 8);
  const Size chunk = a.dim({"conf_attention_chunk_size"}, 12);
  const Size past = std::max<Size>(a.count({"conf_attention_context_left"}, 13) - 1, 0);
  const Size context = chunk + past + a.count({"conf_attention_context_right"}, 0);
  const auto feed_forward = [&](std::string_view name) {
    return in(name, k("AudioConformerFeedForward"),
              clipping() + norm("pre_layer_norm", width) + linear("ffw_layer_1", width, 4 * width) +
                  linear("ffw_layer_2", 4 * width, width) + norm("post_layer_norm", width));
  };
  const Part attention =
      in("attn", k("AudioAttention"),
         tensor("per_dim_scale", {width / heads}, Role::other) + buffer("q_scale", {}) +
             buffer("local_causal_valid_mask", {chunk, context}, Element::boolean) +
             buffer("softcap", {}) +
             in("relative_position_embedding", k("AudioRelativePositionEmbedding"),
                buffer("inv_timescales", {1, 1, width / 2}) + linear("pos_proj", width, width)) +
             linear("q_proj", width, width) + linear("k_proj", width, width) +
             linear("v_proj", width, width));
  const Part layer =
      clipping() + feed_forward("ffw_layer_start") +
      in("attention", k("AudioConformerAttention"),
         clipping() + norm("pre_attn_norm", width) + attention + linear("post", width, width) +
             norm("post_norm", width)) +
      in("lconv1d", k("AudioConformerLightConv1d"),
         clipping() + norm("pre_layer_norm", width) + linear("linear_start", width, 2 * width) +
             convolution("depthwise_conv1d", "Conv1d",
                         {width, 1, a.dim({"conf_conv_kernel_size"}, 5)}) +
             norm("conv_norm", width) + linear("linear_end", width, width)) +
      feed_forward("ffw_layer_end") + norm("norm", width);
  return in(
      "audio_tower", k("AudioEncoder"),
      subsampling(a, width) + stack("conformer", k("AudioConformerBlock"),
                                    a.dim({"conf_num_hidden_layers"}, 12), [&] { return layer; }));
}

/// Embeddings of the modality's own tokens, and the projection of the tower's output.
Part embedder(std::string_view name, const Config& c, Size width) {
  const Size seen = c.dim({"hidden_size"});
  return in(name, k("MultimodalEmbedder"),
            embedding("embedding", c.dim({"vocab_size"}, 128), seen) +
                norm("hard_embedding_norm", seen) + norm("soft_embedding_norm", seen) +
                linear("embedding_projection", seen, width) +
                module("embedding_post_projection_norm", k("RMSNorm")));
}

/// Source: transformers 5.23, models/gemma3n/{configuration,modeling}_gemma3n.py.
Part gemma3n(const Config& c) {
  const Config text = section_of(c, "text_config", "gemma3n_text");
  const Config v = section_of(c, "vision_config", "gemma3n_vision");
  const Config a = section_of(c, "audio_config", "gemma3n_audio");
  const Size width = text.dim({"hidden_size"});
  return with_unsplittable(
      with_language_head(
          in("model", k("Model"),
             vision_tower(v) + in("language_model", k("TextModel"), gemma3n::gemma3n_trunk(text)) +
                 audio_tower(a) + embedder("embed_vision", v, width) +
                 embedder("embed_audio", a, width)),
          text, head_is_tied(c, text, true, Inherit::no),
          "model.language_model.embed_tokens.weight"),
      {"TimmWrapperModel"});
}

}  // namespace headroom::model::families::gemma3n_towers
