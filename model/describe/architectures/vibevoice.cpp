// VibeVoice (arXiv:2508.19205): a text model whose hidden states a small diffusion model turns into
// frames of speech, which two encoders hear again.
#include "model/describe/architectures/vibevoice_tokenizer.hpp"

namespace headroom::model::families::vibevoice {

const std::string k = "VibeVoice";

Part projector(std::string_view name, Size from, Size to) {
  return in(name, k + "MultiModalProjector",
            linear("linear_1", from, to, Bias::yes) + rms_norm("act", k + "RMSNorm", to) +
                linear("linear_2", to, to, Bias::yes));
}

/// Its width and that of its frames are the text model's and the autoencoder's, whatever it says.
Part diffusion_head(const Config& d, Size hidden, Size latent) {
  const Size inner = d.dim({"intermediate_size"}, 4608),
             waves = d.dim({"frequency_embedding_size"}, 256);
  const std::string head = k + "DiffusionHead";
  const std::string act = activation_class(d, {"hidden_act"}, "silu");
  return in(
      "diffusion_head", head,
      linear("noisy_images_proj", latent, hidden) + linear("cond_proj", hidden, hidden) +
          in("timestep_embedding", head + "SinusoidalEmbedding", buffer("freq", {waves / 2})) +
          in("timestep_proj", head + "MLP",
             module("activation_fn", act) + linear("fc1", waves, hidden) +
                 linear("fc2", hidden, hidden)) +
          list("layers", d.dim({"num_hidden_layers"}, 4),
               [&](const std::string& name, Size) {
                 return in(name, head + "AdaLayerNorm",
                           in("ffn", k + "MLP",
                              gated_mlp(hidden, inner, act, d.bias({"mlp_bias"}, false))) +
                               rms_norm("norm", k + "RMSNorm", hidden) + module("act_fn", act) +
                               linear("linear", hidden, 3 * hidden));
               }) +
          in("final_layer", head + "FinalLayer",
             linear("linear_1", hidden, 2 * hidden) + module("act_fn", act) +
                 linear("linear_2", hidden, latent)));
}

/// Source: transformers 5.23, models/vibevoice, models/vibevoice_acoustic_tokenizer.
Part vibevoice(const Config& c) {
  const std::string tokenizer = "vibevoice_acoustic_tokenizer", codec = k + "AcousticTokenizer";
  const Config text = section_of(c, "text_config", "qwen2");
  const Config sound = section_of(c, "audio_config", tokenizer);
  const Submodel sense =
      vibevoice_encoder(section_of(c, "semantic_model_config", tokenizer + "_encoder"));
  const Submodel language = text_model(text);
  const Submodel hears = vibevoice_encoder(sound), speaks = vibevoice_decoder(sound);
  Part body =
      in("model", k + "Model",
         tensor("latent_scaling_factor", {}, Role::other) +
             tensor("latent_bias_factor", {}, Role::other) +
             in("audio_tower", codec + "Model", hears.as("encoder") + speaks.as("decoder")) +
             language.as("language_model") +
             projector("multi_modal_projector", hears.width, language.width) +
             sense.as("semantic_tokenizer_encoder") +
             projector("semantic_connector", sense.width, language.width) +
             diffusion_head(section_of(c, "diffusion_head_config", "vibevoice_diffusion"),
                            language.width, hears.width));
  return with_language_head(
      with_unsplittable(std::move(body),
                        {codec + "EncoderModel", codec + "DecoderModel", k + "DiffusionHead"}),
      text, text.flag({"tie_word_embeddings"}, false), "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::vibevoice
