// Ultravox: Whisper's encoder, a projector over stacked frames, and any text model.
#include <boost/json.hpp>

#include "model/describe/architectures/audio_towers.hpp"
#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families::ultravox {

/// Layers of Whisper between two linear layers (`num_projector_layers`).
Part transformer_projector(const Config& c, const Config& a, Size wide, Size seen, Size width) {
  const Config layers = Config(
      {{"d_model", seen},
       {"encoder_layers", c.dim({"num_projector_layers"})},
       {"encoder_ffn_dim", a.dim({"encoder_ffn_dim", "intermediate_size"})},
       {"encoder_attention_heads", a.dim({"encoder_attention_heads", "num_attention_heads"})}},
      c.origin());
  return rms_norm("ln_pre", "RMSNorm", wide) + linear("linear_in", wide, seen, Bias::yes) +
         embedding("embed_positions", a.dim({"max_source_positions"}, 1500), seen) +
         whisper_layers(layers, "Whisper", Bias::no) + rms_norm("ln_post", "RMSNorm", seen) +
         linear("linear_out", seen, width, Bias::yes);
}

Part feed_forward_projector(const Config& c, Size wide, Size width) {
  const Size inner = c.dim({"hidden_size"}, 4096);
  const bool gated = c.text({"projector_act"}, "swiglu") == "swiglu";
  const Size middle = gated ? inner / 2 : inner;
  const bool norm_inside = c.flag({"projector_ln_mid"}, false);
  return rms_norm("ln_pre", "RMSNorm", wide) + linear("linear_1", wide, inner) +
         module("act", gated ? "SwiGLU" : activation_class(c, {"projector_act"}, "gelu")) +
         (norm_inside ? rms_norm("ln_mid", "RMSNorm", middle) : module("ln_mid", "Identity")) +
         linear("linear_2", middle, width) +
         (norm_inside ? module("ln_post", "Identity") : rms_norm("ln_post", "RMSNorm", width));
}

/// The sizes of a model that a file only names are not in the file.
void need_section(const Config& c, std::string_view key, std::string_view name) {
  if (c.has(key)) return;
  c.fail(key, "is missing: the file only names the model (" +
                  c.text({name}, "no " + std::string(name)) + "); put its config here");
}

/// Source: vLLM 0.33 ultravox.py and transformers_utils/configs/ultravox.py.
Part ultravox(const Config& c) {
  need_section(c, "text_config", "text_model_id");
  need_section(c, "audio_config", "audio_model_id");
  const Config text = section_of(c, "text_config", "llama");
  const Config a = with_class_defaults(c.section("audio_config"), "whisper");
  const Submodel ears = whisper_tower(a, "Whisper");
  const Size wide = ears.width * c.dim({"stack_factor"}, 8), width = width_of(text);
  Part projector = c.count({"num_projector_layers"}, 0) > 0
                       ? transformer_projector(c, a, wide, ears.width, width)
                       : feed_forward_projector(c, wide, width);
  return ears.as("audio_tower") +
         in("multi_modal_projector", "UltravoxProjector", std::move(projector)) +
         whole_model(text, "language_model");
}

}  // namespace headroom::model::families::ultravox
