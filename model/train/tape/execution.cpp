#include "model/train/tape/execution.hpp"

#include <boost/json.hpp>

#include "model/checkpoint/model.hpp"
#include "model/describe/config.hpp"

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

/// Of a text model.
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
  struct Row {
    std::string_view model_type;
    double attention_dropout, hidden_dropout, embedding_dropout, attention_softcap, logit_softcap;
  };
  static constexpr Row rows[] = {
      {"gpt2", 0.1, 0.1, 0.1, 0, 0},
      {"gpt_bigcode", 0.1, 0.1, 0.1, 0, 0},
      {"bert", 0.1, 0.1, 0.1, 0, 0},
      {"roberta", 0.1, 0.1, 0.1, 0, 0},
      {"xlm-roberta", 0.1, 0.1, 0.1, 0, 0},
      {"electra", 0.1, 0.1, 0.1, 0, 0},
      {"opt", 0, 0.1, 0, 0, 0},
      {"biogpt", 0.1, 0.1, 0, 0, 0},
      {"ctrl", 0.1, 0.1, 0.1, 0, 0},
      {"t5", 0.1, 0.1, 0.1, 0, 0},
      {"mt5", 0.1, 0.1, 0.1, 0, 0},
      {"umt5", 0.1, 0.1, 0.1, 0, 0},
      {"longt5", 0.1, 0.1, 0.1, 0, 0},
      {"switch_transformers", 0.1, 0.1, 0.1, 0, 0},
      {"bart", 0, 0.1, 0.1, 0, 0},
      {"mbart", 0, 0.1, 0.1, 0, 0},
      {"gemma2", 0, 0, 0, 50, 30},
  };
  Execution e{.parallel_residual = true};
  for (const Row& row : rows)
    if (row.model_type == model.model_type)
      e.attention_dropout = row.attention_dropout, e.hidden_dropout = row.hidden_dropout,
      e.embedding_dropout = row.embedding_dropout, e.attention_softcap = row.attention_softcap,
      e.logit_softcap = row.logit_softcap;
  return e;
}

}  // namespace headroom::model
