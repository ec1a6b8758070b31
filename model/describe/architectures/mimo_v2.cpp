// MiMo-V2.5 and its successors: MiMo-V2-Flash's decoder under the names of its own repository and,
// where the config has them, a vision tower and an encoder of audio codes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "hardware/text.hpp"
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/families.hpp"
#include "model/describe/blocks/decoder.hpp"

namespace headroom::model::families::mimo_v2 {

/// The decoder with the checkpoint's name for the sinks. Source: vLLM 0.33 mimo_v2.py.
Part decoder(const Config& c) {
  Part part = mimo_v2_flash::mimo_v2_flash(c);
  for (Tensor& t : part.tensors)
    if (t.name.ends_with(".sinks")) t.name.replace(t.name.size() - 5, 5, "attention_sink_bias");
  return part;
}

/// Heads have sizes of their own. Blocks behind a window may have a sink for each head.
Part vision_attention(const Config& v, Size width, bool windowed) {
  const Size heads = v.dim({"num_heads"}, 32), given = v.dim_or_none({"num_key_value_heads"}, 8);
  const Size key = v.dim({"qk_channels"}, 64), value = v.dim({"kv_channels"}, 64);
  const Size kv = given > 0 ? given : heads;
  const bool sinks = v.flag({"use_sink"}, false) && windowed;
  return (sinks ? tensor("sinks", {heads}, Role::other) : Part{}) +
         linear("qkv", width, heads * key + kv * (key + value), Bias::yes) +
         linear("proj", heads * value, width, Bias::yes);
}

/// Sources: vLLM 0.33 mimo_v2_omni.py and transformers_utils/configs/mimo_v2_omni.py, where no key
/// but `in_channels` changes the channels. The norm of the merger is a LayerNorm without bias in
/// the repository's code (SGLang 0.5.23 mimo_vl.py says so); vLLM has an RMSNorm of that weight.
Part vision_tower(const Config& v) {
  const Size width = v.dim({"hidden_size"}, 1280), inner = v.dim({"intermediate_size"}, 4608);
  const Size patch = v.dim({"patch_size"}, 16), side = v.dim({"spatial_merge_size"}, 2);
  const Size wide = times({width, side, side});
  const std::string act = activation_class(v, {"hidden_act"}, "silu");
  const std::vector<Size> whole = v.has("fullatt_block_indexes") ? v.dims({"fullatt_block_indexes"})
                                                                 : std::vector<Size>{7, 15, 23, 31};
  const Part blocks = stack("blocks", "MiMoVisionBlock", v.dim({"depth"}, 28), [&](Size i) {
    const bool windowed = std::ranges::find(whole, i) == whole.end();
    return rms_norm("norm1", "RMSNorm", width) + rms_norm("norm2", "RMSNorm", width) +
           in("attn", "MiMoVisionAttention", vision_attention(v, width, windowed)) +
           in("mlp", "MiMoVisionMLP", gated_mlp(width, inner, act, Bias::yes));
  });
  return in("patch_embed", "MiMoVisionPatchEmbed",
            convolution("proj", "Conv3d",
                        {width, v.dim({"in_channels"}, 3), v.dim({"temporal_patch_size"}, 2), patch,
                         patch})) +
         blocks +
         in("merger", "MiMoVisionPatchMerger",
            layer_norm("ln_q", width, Bias::no) +
                in("mlp", "Sequential",
                   linear("0", wide, wide) + module("1", "GELU") +
                       linear("2", wide, v.dim({"out_hidden_size"}, 2048))));
}

/// Codes that each of `channels` may have: one number for all, or one each as in "1025-129".
std::vector<Size> codes_of(const Config& a, Size channels) {
  constexpr std::string_view key = "speech_vocab_size";
  if (a.is_whole(key)) return std::vector<Size>(static_cast<std::size_t>(channels), a.dim({key}));
  const std::string text = a.text({key}, "1025-1025-129-129-129-129-129-129");
  std::vector<Size> sizes;
  for (const std::string_view each : split(text, '-')) {
    Size size = 0;
    const auto [end, error] = std::from_chars(each.data(), each.data() + each.size(), size);
    if (error != std::errc{} || end != each.data() + each.size() || size < 1 || size > 1 << 30)
      a.fail(key, "found '" + text + "', expected whole numbers with '-' between them");
    sizes.push_back(size);
  }
  if (sizes.size() == 1) sizes.resize(static_cast<std::size_t>(channels), sizes[0]);
  if (std::ssize(sizes) < channels)
    a.fail(key, fmt::format("found {} sizes for {} audio_channels", sizes.size(), channels));
  return sizes;
}

/// Qwen2's layers over groups of codes. Source: vLLM 0.33 mimo_audio.py, MimoAudioEncoder. Left
/// out: the embedding of Qwen2Model, which vLLM allocates and nothing reads. The tokenizer that
/// turns sound to codes is also left out. It is a model of its own in the checkpoint's folder
/// `audio_tokenizer`.
Part audio_encoder(const Config& a) {
  const Classes k{"Qwen2"};
  const Size width = a.dim({"input_local_dim"}, 1024),
             heads = a.dim({"input_local_attn_heads"}, 64);
  const Size inner = a.dim({"input_local_intermediate_size"}, 4096);
  const Size group = width * a.dim({"group_size"}, 4), out = a.dim({"out_hidden_size"}, 4096);
  const Size projections = a.dim({"projection_layers"}, 1);
  if (projections > 2)
    a.fail("projection_layers", fmt::format("found {}, expected 1 or 2", projections));
  if (width < heads)
    a.fail("input_local_attn_heads", fmt::format("found {}, at most input_local_dim", heads));
  Part attends = attention(width, {.query = heads, .kv = heads, .dim = width / heads}, Bias::yes);
  attends.caches.clear();  // a group of codes is read at once
  const Part layer = decoder_layer(k, width, std::move(attends),
                                   in("mlp", k("MLP"), gated_mlp(width, inner, "SiLUActivation")));
  Part codes =
      stack("layers", k("DecoderLayer"), a.dim({"input_local_layers"}, 6), [&] { return layer; });
  if (a.flag({"add_post_norm"}, false))
    codes = std::move(codes) + rms_norm("norm", k("RMSNorm"), width);
  return in("input_local_transformer", k("Model"),
            std::move(codes) + rotary(k("RotaryEmbedding"), width / heads)) +
         (projections == 1 ? linear("projection", group, out)
                           : in("projection", "AudioProjection",
                                in("mlp", "Sequential",
                                   linear("0", group, times({group, 4})) + module("1", "GELU") +
                                       linear("2", times({group, 4}), out))));
}

Part speech_embeddings(const Config& a) {
  const Size channels = a.dim({"audio_channels"}, 8);
  const std::vector<Size> codes = codes_of(a, channels);
  return list("speech_embeddings", channels, [&](const std::string& name, Size i) {
    return embedding(name, codes[static_cast<std::size_t>(i)], a.dim({"input_local_dim"}, 1024));
  });
}

/// A config with a `vision_config` is of the model with towers, whatever class it names. It may
/// have no audio. Sources: vLLM 0.33 transformers_utils/model_arch_config_convertor.py,
/// MimoV2ModelArchConfigConvertor; the names of the checkpoint are those that the weights mapper of
/// mimo_v2_omni.py reads.
Part mimo_v2(const Config& c) {
  Part part = decoder(c);
  if (c.has("vision_config") || c.class_name() == "MiMoV2OmniForCausalLM") {
    part = with_unsplittable(std::move(part) + in("visual", "MiMoVisionTransformer",
                                                  vision_tower(c.section("vision_config"))),
                             {"MiMoVisionBlock"});
    if (c.has("audio_config")) {
      const Config a = c.section("audio_config");
      part = with_unsplittable(std::move(part) +
                                   in("audio_encoder", "MimoAudioEncoder", audio_encoder(a)) +
                                   speech_embeddings(a),
                               {"Qwen2DecoderLayer"});
    }
  }
  return part;
}

}  // namespace headroom::model::families::mimo_v2
