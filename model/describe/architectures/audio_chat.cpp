// Models that hear with encoders of their own before Qwen: Fun-Audio-Chat, MiDashengLM
// (arXiv:2508.03983) and MOSS-Audio.
#include <algorithm>
#include <boost/json.hpp>

#include "model/describe/architectures/audio_towers.hpp"
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/tower_layers.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families::audio_chat {

/// Whisper's layers behind two convolutions, and embeddings of discrete speech. The layers that
/// write speech (`audio_invert_tower`) are left out, as vLLM leaves them out. Source: vLLM 0.33
/// funaudiochat.py.
Part fun_audio_chat(const Config& c) {
  const Config a = with_large_whisper_sizes(c.section_or_empty("audio_config"));
  const Config text = section_of(c, "text_config", "qwen3");
  const Size width = a.dim({"d_model"}), out = a.dim({"output_dim"}, 3584);
  const Part heard =
      convolution("conv1", "Conv1d", {width, a.dim({"num_mel_bins"}, 128), 3}, Bias::yes) +
      convolution("conv2", "Conv1d", {width, width, 3}, Bias::yes) +
      whisper_layers(a, "FunAudioChatAudio", Bias::no) + layer_norm("ln_post", width) +
      module("avg_pooler", "AvgPool1d") + linear("proj", width, out, Bias::yes) +
      sine_table(a.dim({"max_source_positions"}, 1500), width) +
      embedding("audio_bos_eos_token", 2, out);
  return with_unsplittable(in("continuous_audio_tower", "FunAudioChatAudioEncoder", heard) +
                               in("audio_tower", "FunAudioChatDiscreteEncoder",
                                  embedding("embed_tokens", a.dim({"codebook_size"}), out) +
                                      linear("output_matching", out, out) +
                                      linear("continual_output_matching", out, out)) +
                               whole_model(text, "language_model", "qwen3"),
                           {"FunAudioChatAudioEncoderLayer"});
}

/// Dasheng: a transformer over patches of the spectrogram. Source: vLLM 0.33 midashenglm.py.
Part dasheng(const Config& a) {
  const Size width = a.dim({"embed_dim"}, 768), bins = a.dim({"n_mels"}, 64);
  const Size patch = a.dim({"patch_size"}, 16), stride = a.dim({"patch_stride"}, 16);
  const auto inner =
      whole_width(a, "mlp_ratio", static_cast<double>(width) * a.number({"mlp_ratio"}, 4.0) + 1e-6);
  if (a.has("init_values")) a.fail("init_values", "scaled layers are not described");
  return in("init_bn", "Sequential", batch_norm("1", "BatchNorm2d", bins)) +
         in("patch_embed", "AudioPatchEmbed",
            convolution("proj", "Conv2d", {width, a.dim({"input_channels"}, 1), patch, patch},
                        Bias::yes)) +
         tensor("time_pos_embed", {1, width, 1, a.dim({"target_length"}, 1012) / stride},
                Role::embedding) +
         tensor("freq_pos_embed", {1, width, bins / stride, 1}, Role::embedding) +
         stack("blocks", "DashengBlock", a.dim({"depth"}, 12),
               [&] { return timm_layer(width, inner); }) +
         layer_norm("norm", width);
}

Part midasheng(const Config& c) {
  const Config a = c.section_or_empty("audio_encoder_config");
  const Config text = with_class_defaults(c.section("text_config"), "qwen2_5_omni_text");
  const Size seen = a.dim({"embed_dim"}, 768) * c.dim({"subsample_factor"}, 5);
  const Size width = width_of(text);
  return with_unsplittable(in("audio_encoder", "DashengAudioTransformer", dasheng(a)) +
                               in("audio_projector", "AudioProjectorSubsample",
                                  in("net", "Sequential",
                                     linear("0", seen, width, Bias::yes) + module("1", "GELU") +
                                         linear("2", width, width, Bias::yes))) +
                               whole_model(text, "decoder", "qwen2"),
                           {"DashengBlock"});
}

/// Layers of Whisper behind three strided convolutions. Outputs of earlier layers are added to the
/// first layers of Qwen3, each through an adapter of its own. Source: vLLM 0.33 moss_audio.py.
Part moss_audio(const Config& c) {
  const Config a = with_large_whisper_sizes(c.section_or_empty("audio_config"));
  const Config text = section_of(c, "language_config", "qwen3");
  const Size width = a.dim({"d_model"}), out = a.dim({"output_dim"}, 1280);
  const Size channels = a.dim({"downsample_hidden_size"}, 480);
  const Size bins = (a.dim({"num_mel_bins"}, 128) + 7) / 8;
  const Size inner = c.dim({"adapter_hidden_size"}, 8192), hidden = width_of(text);
  const auto convolved = [&](std::string_view name, Size from) {
    return convolution(name, "Conv2d", {channels, from, 3, 3}, Bias::yes);
  };
  const auto adapter = [&](std::string_view name) {
    return in(name, "GatedMLP",
              linear("gate_proj", out, inner) + linear("up_proj", out, inner) +
                  linear("down_proj", inner, hidden) + module("act_fn", "SiLUActivation"));
  };
  Size added = feature_layers(a, "deepstack_encoder_layer_indexes", 3);
  added = std::min(added, c.count({"deepstack_num_inject_layers"}, added));
  Part heard = convolved("conv1", 1) + convolved("conv2", channels) + convolved("conv3", channels) +
               linear("stem_proj", channels * bins, width, Bias::yes) +
               whisper_layers(a, "MossAudio", Bias::no) + layer_norm("layer_norm", width);
  if (out != width) heard = std::move(heard) + linear("out_proj", width, out);
  return with_unsplittable(in("audio_encoder", "MossAudioEncoder", std::move(heard)) +
                               adapter("audio_adapter") +
                               list("deepstack_audio_merger_list", added,
                                    [&](const std::string& name, Size) { return adapter(name); }) +
                               whole_model(text, "language_model", "qwen3"),
                           {"MossAudioEncoderLayer"});
}

}  // namespace headroom::model::families::audio_chat
