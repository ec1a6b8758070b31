#include "model/train/tape/execution.hpp"

#include <boost/json.hpp>

#include "model/checkpoint/model.hpp"
#include "model/describe/config.hpp"
#include "model/describe/usual_dropout.hpp"

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

/// Execution of a text model.
Execution execution_of_text(const Config& config) {
  return {
      .attention_dropout =
          share(config, {"attention_dropout", "attn_pdrop", "attention_probs_dropout_prob",
                         "attention_dropout_prob", "dropout_rate"}),
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

}  // namespace

Execution execution_of(const Config& config) {
  const auto has = [&](std::string_view part) {
    return config.has(part) && config.object().at(part).is_object();
  };
  Execution e = execution_of_text(has("text_config")  ? config.section("text_config")
                                  : has("llm_config") ? config.section("llm_config")
                                                      : config);
  if (has("vision_config"))
    if (const double heads =
            share(config.section("vision_config"), {"num_attention_heads", "num_heads"});
        heads > 0)
      e.tower_heads = static_cast<Size>(heads);
  return e;
}

Execution usual_execution(const Model& model) {
  const UsualDropout usual = usual_dropout(model.model_type);
  return {.attention_dropout = usual.attention,
          .hidden_dropout = usual.hidden,
          .embedding_dropout = usual.embedding,
          .attention_softcap = usual.attention_softcap,
          .logit_softcap = usual.logit_softcap,
          .parallel_residual = true};
}

}  // namespace headroom::model
