#include "sweep/options/speculation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "model/checkpoint/predictor.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "model/infer/timeline/draft_times.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/options/model_options.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

using model::Proposer;

struct Method {
  std::string_view word;
  Proposer proposer;
  bool named;  ///< with a model of its own
};
constexpr Method methods[] = {{"mtp", Proposer::modules, false},
                              {"draft", Proposer::model, true},
                              {"eagle3", Proposer::head, true},
                              {"dflash", Proposer::block, true},
                              {"ngram", Proposer::lookup, false}};

std::string_view word_of(Proposer proposer) {
  return std::ranges::find(methods, proposer, &Method::proposer)->word;
}

[[noreturn]] void expected_form(const std::string& text) {
  throw std::invalid_argument(fmt::format("found '{}', expected {}", text, speculation_form));
}

model::Acceptance acceptance_for(const Speculation& asked) {
  if (asked.acceptance) {
    const double stated = model::acceptance_of_share(asked.tokens, *asked.acceptance);
    return {stated, stated, stated, 0};
  }
  const model::Acceptance known = model::measured_acceptance(asked.proposer);
  if (known.sources == 0)
    throw std::invalid_argument(fmt::format(
        "{} needs --acceptance, the share of proposed tokens that are kept: it depends on the "
        "models and the text, and engines log it",
        word_of(asked.proposer)));
  return known;
}

}  // namespace

std::string Speculation::text() const {
  std::string all =
      fmt::format("{}:{}{}{}", word_of(proposer), model, model.empty() ? "" : ":", tokens);
  if (acceptance) all += fmt::format("@{:g}", *acceptance);
  return all;
}

double parse_share(const std::string& text) {
  double value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0) || value > 1)
    throw std::invalid_argument(fmt::format("found '{}', expected a share from 0 to 1", text));
  return value;
}

Speculation parse_speculation(const std::string& text) {
  const auto first = text.find(':'), last = text.rfind(':');
  const std::string word = text.substr(0, first);
  const auto method = std::ranges::find(methods, word, &Method::word);
  if (method == std::end(methods) || first == std::string::npos || method->named == (first == last))
    expected_form(text);
  Speculation asked{.proposer = method->proposer, .model = {}, .acceptance = {}};
  if (method->named) asked.model = text.substr(first + 1, last - first - 1);
  std::string number = text.substr(last + 1);
  if (const auto at = number.find('@'); at != std::string::npos) {
    asked.acceptance = parse_share(number.substr(at + 1));
    number.resize(at);
  }
  const auto tokens = whole_number(number);
  if (!tokens || (method->named && asked.model.empty())) expected_form(text);
  if (*tokens < 1 || *tokens > most_proposed)
    throw std::invalid_argument(
        fmt::format("'{}': found {} tokens, expected 1 to {}", text, *tokens, most_proposed));
  asked.tokens = *tokens;
  return asked;
}

std::optional<Speculation> speculation_of(const Options& options) {
  options.exclusive({"speculate", "draft-model"});
  options.requires_flag("draft-tokens", "draft-model");
  const bool given = options.given("speculate");
  if (!given && !options.given("draft-model")) {
    if (options.given("acceptance"))
      throw UsageError("--acceptance has no effect without --speculate");
    options.requires_flag("draft-precision", "speculate");
    return std::nullopt;
  }
  Speculation asked;
  if (given) {
    asked = *options.read("speculate", parse_speculation);
  } else {
    asked.model = options.text("draft-model");
    asked.tokens = options.whole("draft-tokens", 5);
  }
  if (options.given("draft-precision") && asked.model.empty())
    throw UsageError(fmt::format("--draft-precision has no effect with {}", asked.text()));
  if (const auto share = options.read("acceptance", parse_share)) {
    if (asked.acceptance)
      throw UsageError(fmt::format("--acceptance: {} has one already", asked.text()));
    asked.acceptance = *share;
  }
  return asked;
}

std::unique_ptr<GivenDraft> make_draft(const Speculation& asked, const model::Scenario& s,
                                       const model::QuantisedModel* proposer) {
  auto given = std::make_unique<GivenDraft>();
  model::Draft& draft = given->draft;
  draft.proposer = asked.proposer;
  draft.tokens = asked.tokens;
  draft.weights = proposer;
  if (asked.proposer == Proposer::modules && s.weights->refusal.empty()) {
    given->model = std::make_unique<model::Model>(predictor_model(*s.weights->model));
    given->weights =
        std::make_unique<model::QuantisedModel>(quantise_predictor(*given->model, *s.weights));
    draft.weights = given->weights.get();
    draft.modules = s.weights->model->multi_token_prediction.modules;
  }
  if (proposer != nullptr && proposer->head_read == 0) {  // its head is the target's
    given->weights = std::make_unique<model::QuantisedModel>(*proposer);
    given->weights->head_read = s.weights->head_read;
    draft.weights = given->weights.get();
  }
  check_draft(s, draft);
  given->acceptance = acceptance_for(asked);
  draft.acceptance = given->acceptance.expected;
  given->engine =
      std::make_unique<model::Engine>(with_acceptance(*s.runtime, draft, given->acceptance));
  return given;
}

model::Acceptance shares_kept(const GivenDraft& given) {
  const auto at = [&](double acceptance) {
    model::Draft draft = given.draft;
    draft.acceptance = acceptance;
    return share_kept(draft);
  };
  const model::Acceptance& a = given.acceptance;
  return {at(a.low), at(a.expected), at(a.high), a.sources};
}

model::Model proposer_model(const Speculation& asked, const Hub& hub) {
  if (asked.proposer == Proposer::model) return resolve_model(asked.model, hub);
  const std::vector<std::string> names = {asked.model};
  auto resolved = resolve_models(names, hub, Need::counts);
  if (resolved.front().failure) std::rethrow_exception(resolved.front().failure);
  return std::move(*resolved.front().model);
}

namespace {

std::string assumed_line(const GivenDraft& given, const Speculation& asked,
                         const model::Scenario& s) {
  const model::Draft& draft = given.draft;
  std::string text;
  if (asked.proposer == Proposer::modules)
    text = counted(draft.modules, "module") + " of the checkpoint (MTP)";
  else if (asked.proposer == Proposer::lookup)
    text = "n-grams of the text so far";
  else
    text = fmt::format("{} {}",
                       asked.proposer == Proposer::head    ? "EAGLE-3 head"
                       : asked.proposer == Proposer::block ? "DFlash head"
                                                           : "draft model",
                       draft.weights->model->name);
  if (draft.weights != nullptr)
    text += fmt::format(" in {}: {}", draft.weights->scheme->name, to_text(draft.weights->total));
  const model::Acceptance kept = shares_kept(given);
  text += fmt::format("; {} proposed a step, {:.0f} % of them kept", counted(draft.tokens, "token"),
                      100 * kept.expected);
  if (kept.sources > 0)
    text += fmt::format(" ({:.0f} to {:.0f} %, {} published sources)", 100 * kept.low,
                        100 * kept.high, kept.sources);
  text += fmt::format(", {:.2f} tokens a step", tokens_per_step(draft));
  if (draft.weights != nullptr)
    text += s.runtime->parallel.split == model::Split::tensors ? "; divided over the same cards"
                                                               : "; on the first card";
  return text;
}

}  // namespace

std::unique_ptr<GivenDraft> add_draft(const Options& options, model::Scenario& s,
                                      std::vector<std::string>& assumed) {
  const auto asked = speculation_of(options);
  if (!asked) return nullptr;
  std::unique_ptr<model::Model> named;
  std::unique_ptr<model::QuantisedModel> weights;
  if (!asked->model.empty()) {
    named = std::make_unique<model::Model>(proposer_model(*asked, Hub(hub_flags(options))));
    const std::string held = options.text("draft-precision", "auto");
    const model::Scheme* scheme = held == "auto" ? nullptr : &model::scheme(held);
    weights = std::make_unique<model::QuantisedModel>(
        model::quantise(*named, model::loaded_scheme(*named, scheme, *s.runtime, *s.machine)));
  }
  std::unique_ptr<GivenDraft> given;
  try {
    given = make_draft(*asked, s, weights.get());
  } catch (const std::invalid_argument& e) {
    throw UsageError(fmt::format("--speculate {}: {}", asked->text(), e.what()));
  }
  if (named) given->model = std::move(named);
  if (!given->weights) given->weights = std::move(weights);
  assumed.push_back(assumed_line(*given, *asked, s));
  s.draft = &given->draft;
  if (given->engine) s.runtime = given->engine.get();
  return given;
}

}  // namespace headroom::sweep
