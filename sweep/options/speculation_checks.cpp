// Limits of an engine and a model for speculative decoding.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "model/describe/architecture.hpp"
#include "sweep/options/speculation.hpp"

namespace headroom::sweep {
namespace {

using model::Predictors;
using model::Proposer;

void check_modules(const model::Scenario& s, Size tokens, Size modules) {
  const auto allowed = [&](std::string_view rule) {
    throw std::invalid_argument(fmt::format("{} of {} with {} module{}: {}", tokens,
                                            s.weights->model->name, modules,
                                            modules == 1 ? "" : "s", rule));
  };
  switch (s.runtime->serving.predictors) {
    case Predictors::none:
      throw std::invalid_argument(fmt::format(
          "{} does not run multi-token prediction modules; llama.cpp, sglang and vllm do",
          s.runtime->name));
    case Predictors::each_once:
      if (tokens != modules)
        allowed(fmt::format("{} proposes one token with each module", s.runtime->name));
      break;
    case Predictors::up_to_modules:
      if (modules > 1 && tokens > modules)
        allowed(fmt::format("{} proposes at most {}", s.runtime->name, modules));
      break;
    case Predictors::multiples:
      if (tokens > modules && tokens % modules != 0)
        allowed(fmt::format("{} takes up to {}, or a multiple of that", s.runtime->name, modules));
      break;
    case Predictors::any:
      break;
  }
}

void check_vocabulary(const model::Scenario& s, const model::Model& draft) {
  const model::Model& model = *s.weights->model;
  const Size mine = model.shape.vocabulary, its = draft.shape.vocabulary;
  const Size most = s.runtime->serving.draft_vocabulary;
  if (std::abs(mine - its) > most)
    throw std::invalid_argument(fmt::format(
        "{} has a vocabulary of {}, {} one of {}; {} takes {}", draft.name, its, model.name, mine,
        s.runtime->name,
        most == 0 ? std::string("equal ones") : fmt::format("a difference of {}", most)));
}

void check_weights(const model::Scenario& s, const model::QuantisedModel& weights) {
  if (!weights.refusal.empty() || !s.runtime->weights.holds(weights.scheme->family))
    throw std::invalid_argument(fmt::format("{} does not hold {} in {}", s.runtime->name,
                                            weights.model->name, weights.scheme->name));
}

/// Heads that propose blocks have types of their own, which engines took up one by one.
void check_runs(const model::Engine& engine, std::string_view type) {
  const auto runs = [&](const model::Engine& each) {
    return std::ranges::find(each.serving.block_heads, type) != each.serving.block_heads.end();
  };
  if ((type != "dflash" && type != "dspark") || runs(engine)) return;
  std::string_view first;
  std::vector<std::string_view> families;
  for (const model::Engine& each : model::engines()) {
    if (each.is_template || !runs(each)) continue;
    if (each.series == engine.series) first = each.from;  // newest rows come first
    if (each.name == each.family) families.push_back(each.family);
  }
  throw std::invalid_argument(
      fmt::format("{} does not run {} heads; {}", engine.name, type,
                  first.empty() ? fmt::format("{} do", fmt::join(families, ", "))
                                : fmt::format("{} does from {} on", engine.series, first)));
}

void check_head(const model::Scenario& s, const model::Model& head, Proposer proposer) {
  if (s.runtime->serving.predictors < Predictors::up_to_modules)
    throw std::invalid_argument(
        fmt::format("decoding with a head is not described for {}", s.runtime->name));
  const std::string_view why = model::counted_only(head.architecture, head.model_type);
  if (why != model::proposes_tokens && why != model::proposes_blocks)
    throw std::invalid_argument(fmt::format("{} ({}) is a model of its own: draft:{}:N", head.name,
                                            head.architecture, head.name));
  if ((why == model::proposes_blocks) != (proposer == Proposer::block))
    throw std::invalid_argument(
        fmt::format("{} ({}) proposes {}: {}:{}:N", head.name, head.architecture,
                    proposer == Proposer::block ? "one token in each pass" : "a block in one pass",
                    proposer == Proposer::block ? "eagle3" : "dflash", head.name));
  check_runs(*s.runtime, model::described_type(head.architecture));
  const Size read = head.shape.target_size > 0 ? head.shape.target_size : head.shape.hidden_size;
  if (read != s.weights->model->shape.hidden_size)
    throw std::invalid_argument(fmt::format(
        "{} is {} wide, {} is {}: a head reads hidden states of the model that it was trained for, "
        "whose width is target_hidden_size in its config, or its own",
        head.name, read, s.weights->model->name, s.weights->model->shape.hidden_size));
}

bool has_states(const model::Model& model) {
  return std::ranges::any_of(model.profile.caches, [](const model::CacheClass& each) {
    return each.kind == model::CacheKind::recurrent;
  });
}

}  // namespace

void check_draft(const model::Scenario& s, const model::Draft& draft) {
  const model::Model& model = *s.weights->model;
  const auto refuse = [](const std::string& why) { throw std::invalid_argument(why); };
  if (s.runtime->serving.draft_vocabulary < 0 && draft.proposer != Proposer::modules)
    refuse(fmt::format("decoding with one is not described for {}", s.runtime->name));
  if (!s.kv_cache) refuse("has no effect with --no-kv-cache");
  if (!model.writes() || model.encoder_decoder)
    refuse(fmt::format("{} writes no text, or not by a decoder alone", model.name));
  if (draft.proposer == Proposer::model &&
      (!draft.weights->model->profile.generative || draft.weights->model->encoder_decoder))
    refuse("both models must be decoders");
  if (s.pipeline_parallel > 1 || s.data_parallel > 1)
    refuse("together with --pp or --dp is not described");
  if (!s.runtime->serving.draft_states && has_states(model))
    refuse(fmt::format("{} cannot take tokens back from the recurrent states of {}",
                       s.runtime->name, model.name));
  if (draft.proposer == Proposer::modules)
    check_modules(s, draft.tokens, model.multi_token_prediction.modules);
  if (draft.weights == nullptr) return;
  if (draft.proposer == Proposer::head || draft.proposer == Proposer::block)
    check_head(s, *draft.weights->model, draft.proposer);
  if (draft.proposer == Proposer::model) check_vocabulary(s, *draft.weights->model);
  check_weights(s, *draft.weights);
}

}  // namespace headroom::sweep
