#include "model/execution.hpp"

#include <boost/json.hpp>

#include "model/config.hpp"

namespace headroom::model {
namespace {

/// The first of `keys` that holds a number; 0 where none does.
double share(const Config& c, Config::Keys keys) {
  for (const auto key : keys) {
    const auto* value = c.object().if_contains({key.data(), key.size()});
    if (value != nullptr && value->is_number()) return value->to_number<double>();
  }
  return 0;
}

bool flag(const Config& c, std::string_view key, bool fallback) {
  const auto* value = c.object().if_contains({key.data(), key.size()});
  return value != nullptr && value->is_bool() ? value->as_bool() : fallback;
}

}  // namespace

Execution execution_of(const Config& config) {
  for (const std::string_view part : {"text_config", "llm_config"})
    if (config.has(part) && config.object().at(part).is_object())
      return execution_of(config.section(part));
  return {
      .attention_dropout =
          share(config, {"attention_dropout", "attn_pdrop", "attention_probs_dropout_prob",
                         "attention_dropout_prob"}),
      .hidden_dropout =
          share(config, {"resid_pdrop", "hidden_dropout", "hidden_dropout_prob", "resid_dropout",
                         "residual_dropout", "dropout_rate", "dropout"}),
      .embedding_dropout =
          share(config, {"embd_pdrop", "embed_dropout", "embedding_dropout", "hidden_dropout",
                         "hidden_dropout_prob", "dropout_rate", "dropout"}),
      .attention_softcap = share(config, {"attn_logit_softcapping"}),
      .logit_softcap = share(config, {"final_logit_softcapping"}),
      .parallel_residual =
          flag(config, "use_parallel_residual", flag(config, "parallel_attn", true)),
      .normalised_routing = flag(config, "norm_topk_prob", true),
      .linear_positions = flag(config, "alibi", false),
  };
}

}  // namespace headroom::model
