// Transducers (arXiv:1211.3711): an audio encoder, a small recurrent network over the previous
// words, and a joint network. For each frame, the joint network writes the next word or none. With
// durations (TDT, arXiv:2304.06795) it also says how many frames to advance.
#include "model/describe/architectures/audio_towers.hpp"

namespace headroom::model::families::transducers {

/// Source: transformers 5.23, models/{parakeet,nemotron_asr_streaming,nemotron3_5_asr}.
Part transducer(const Config& c) {
  const bool parakeet = is_for(c, "ForTDT") || c.class_name().starts_with("Parakeet");
  const bool prompted = c.class_name().starts_with("Nemotron3_5");
  const std::string k = parakeet   ? "Parakeet"
                        : prompted ? "Nemotron3_5Asr"
                                   : "NemotronAsrStreaming";
  const Submodel encoder =
      parakeet
          ? parakeet_encoder(section_of(c, "encoder_config", "parakeet_encoder"))
          : streaming_encoder(section_of(c, "encoder_config", "nemotron_asr_streaming_encoder"));
  const Size hidden = c.dim({"decoder_hidden_size"}, 640), vocab = c.dim({"vocab_size"});
  Size durations = 0;
  if (is_for(c, "ForTDT")) durations = static_cast<Size>(c.numbers({"durations"}).size());
  Part p = encoder.as("encoder") + linear("encoder_projector", encoder.width, hidden, Bias::yes) +
           in("decoder", k + "RNNTDecoder",
              embedding("embedding", vocab, hidden) +
                  lstm("lstm", hidden, c.dim({"num_decoder_layers"}, 2)) +
                  linear("decoder_projector", hidden, hidden, Bias::yes)) +
           in("joint", k + (durations > 0 ? "TDTJointNetwork" : "RNNTJointNetwork"),
              module("activation", activation_class(c, {"hidden_act"}, "relu")) +
                  output_head("head", hidden, vocab + durations, Bias::yes));
  if (prompted) {
    const Size inner = c.dim({"prompt_intermediate_size"}, 2048);
    p = std::move(p) +
        in("prompt_projector", k + "PromptProjector",
           linear("linear_1", encoder.width + c.dim({"num_prompts"}, 128), inner, Bias::yes) +
               module("act", "ReLU") + linear("linear_2", inner, encoder.width, Bias::yes));
  }
  return with_unsplittable(std::move(p), {k + "RNNTDecoder"});
}

}  // namespace headroom::model::families::transducers
