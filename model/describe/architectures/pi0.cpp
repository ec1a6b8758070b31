// PI0 (arXiv:2410.24164): PaliGemma reads images and an instruction, and a second, narrower Gemma
// attends to it while it denoises a chunk of a robot's actions.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families::pi0 {

/// Both have the vocabulary of PaliGemma's text model. Source: transformers 5.24,
/// models/pi0/{configuration,modeling}_pi0.py.
Part pi0(const Config& c) {
  const Config vlm = section_of(c, "vlm_config", "paligemma");
  const Size vocab = section_of(vlm, "text_config", "gemma").dim({"vocab_size"});
  const Config expert = section_of(c, "dit_config", "gemma")
                            .without("vocab_size")
                            .with_defaults({{"vocab_size", vocab}});
  const Submodel dit = text_model(expert);
  const Size width = dit.width, actions = c.dim({"max_action_dim"}, 32);
  return in("model", "PI0Model", dit.as("dit") + body_without_head(vlm, "vlm")) +
         in("embed_action_time", "PI0ActionTimeEmbedding",
            in("sinusoid_embeds", "PI0TimestepEmbeddings", buffer("sinusoid_freq", {width / 2})) +
                linear("action_in_proj", actions, width, Bias::yes) +
                linear("state_proj", c.dim({"max_state_dim"}, 32), width, Bias::yes) +
                linear("action_time_mlp_in", 2 * width, width, Bias::yes) +
                linear("action_time_mlp_out", width, width, Bias::yes)) +
         linear("action_out_proj", width, actions, Bias::yes);
}

}  // namespace headroom::model::families::pi0
