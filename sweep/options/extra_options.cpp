#include "sweep/options/extra_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "hardware/quantity_text.hpp"
#include "model/engine/default_scheme.hpp"
#include "model/infer/timeline/draft_times.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/options/adapter_options.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {

std::optional<model::ServedAdapters> add_adapters(const Options& options, const model::Scenario& s,
                                                  model::QuantisedModel& weights,
                                                  std::vector<std::string>& assumed) {
  Adapters request = adapters_of(options);
  if (!request) {
    options.requires_flag("lora-adapters", "lora-rank");
    return std::nullopt;
  }
  if (!weights.refusal.empty()) return std::nullopt;
  const model::ServedAdapters adapters{options.whole("lora-adapters", 1), *request};
  try {
    weights = model::with_adapters(weights, *s.runtime, adapters, s.batch);
  } catch (const model::AdapterError& e) {
    throw UsageError(e.what());
  }
  assumed.push_back(
      fmt::format("{} adapter{} of rank {}: {}, {}", adapters.count, adapters.count == 1 ? "" : "s",
                  adapters.request.rank, to_text(weights.adapters),
                  s.runtime->weights.adapters == model::AdapterMemory::slots
                      ? "slots for every linear layer of the decoder in 16 bit"
                      : fmt::format("in {} bytes an element, in addition to the adapted weights",
                                    s.runtime->weights.adapter_bytes)));
  return adapters;
}

namespace {

model::ImageSize image_size(const Options& options) {
  const std::string text = options.text("image-size");
  const auto by = text.find('x');
  model::ImageSize size;
  const auto read = [&](std::string_view part, Size& edge) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), edge);
    return error == std::errc{} && end == part.data() + part.size() && edge >= 1 && edge <= 65536;
  };
  if (by == std::string::npos || !read(std::string_view(text).substr(0, by), size.width) ||
      !read(std::string_view(text).substr(by + 1), size.height))
    throw UsageError(
        fmt::format("--image-size: found '{}', expected WIDTHxHEIGHT in pixels, 1920x1080", text));
  return size;
}

}  // namespace

std::optional<GivenImages> images_of(const Options& options, const model::Model& m,
                                     std::string_view text_flag) {
  options.requires_flag("image-size", "images");
  if (!options.given("images")) return std::nullopt;
  if (m.images.kind == model::ImageTokens::unknown)
    throw UsageError(fmt::format(
        "--images: {} ({}) takes none, or how it turns them into tokens is not described; add "
        "their tokens to --{}",
        m.name, m.architecture, text_flag));
  const bool fixed = m.images.kind == model::ImageTokens::fixed;
  if (fixed && options.given("image-size"))
    throw UsageError(fmt::format("--image-size has no effect: {} makes {} tokens of every image",
                                 m.name, m.images.tokens));
  if (!fixed && !options.given("image-size"))
    throw UsageError("--images needs --image-size WIDTHxHEIGHT: the tokens depend on it");
  GivenImages given{.count = options.whole("images", 1), .each = {}};
  try {
    given.each = image_input(m.images, fixed ? model::ImageSize{} : image_size(options));
  } catch (const std::invalid_argument& e) {
    throw UsageError(fmt::format("--image-size: {}", e.what()));
  }
  return given;
}

void add_images(const Options& options, model::Scenario& s, std::vector<std::string>& assumed) {
  const model::Model& m = *s.weights->model;
  const auto given = images_of(options, m, "prompt-tokens");
  if (!given) return;
  const auto& [count, each] = *given;
  s.images = {count, each.patches, m.images.hidden};
  s.prompt_tokens += count * each.tokens;
  if (s.context > 0 && s.context < s.prompt_tokens + s.output_tokens)
    throw UsageError(
        fmt::format("--context: {} is less than text, {} image tokens and output together ({})",
                    s.context, count * each.tokens, s.prompt_tokens + s.output_tokens));
  assumed.push_back(fmt::format(
      "{} image{} of {} tokens each in every prompt, in addition to its text; {} patches each ({})",
      count, count == 1 ? "" : "s", each.tokens, each.patches, m.images.source));
}

namespace {

double acceptance_of(const Options& options) {
  if (!options.given("acceptance"))
    throw UsageError(
        "--draft-model needs --acceptance, the share of proposed tokens that are kept: it depends "
        "on the models and the text, and engines log it");
  const std::string text = options.text("acceptance");
  double value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0) || value > 1)
    throw UsageError(fmt::format("--acceptance: found '{}', expected a share from 0 to 1", text));
  return value;
}

}  // namespace

void check_draft(const model::Scenario& s, const model::QuantisedModel& weights) {
  const model::Model& model = *s.weights->model;
  const model::Model& draft = *weights.model;
  const auto refuse = [](const std::string& why) {
    throw std::invalid_argument("--draft-model: " + why);
  };
  if (s.runtime->serving.draft_vocabulary < 0)
    refuse(fmt::format("how {} decodes with one is not described", s.runtime->name));
  if (!s.kv_cache) refuse("has no effect with --no-kv-cache");
  if (!model.profile.generative || model.encoder_decoder || !draft.profile.generative ||
      draft.encoder_decoder)
    refuse("both models must be decoders");
  if (s.pipeline_parallel > 1 || s.expert_parallel > 1 || s.data_parallel > 1)
    refuse("together with --pp, --ep or --dp is not described");
  const Size mine = model.shape.vocabulary, its = draft.shape.vocabulary;
  if (std::abs(mine - its) > s.runtime->serving.draft_vocabulary)
    refuse(
        fmt::format("{} has a vocabulary of {}, {} one of {}; {} takes {}", draft.name, its,
                    model.name, mine, s.runtime->name,
                    s.runtime->serving.draft_vocabulary == 0
                        ? std::string("equal ones")
                        : fmt::format("a difference of {}", s.runtime->serving.draft_vocabulary)));
  const auto& families = s.runtime->weights.formats;
  if (!weights.refusal.empty() ||
      std::ranges::find(families, weights.scheme->family) == families.end())
    throw std::invalid_argument(fmt::format("--draft-precision: {} does not hold {} in {}",
                                            s.runtime->name, draft.name, weights.scheme->name));
}

std::unique_ptr<GivenDraft> draft_of(const Options& options, const model::Scenario& s,
                                     std::vector<std::string>& assumed) {
  for (const auto flag : {"draft-precision", "draft-tokens", "acceptance"})
    options.requires_flag(flag, "draft-model");
  if (!options.given("draft-model")) return nullptr;
  auto given = std::make_unique<GivenDraft>();
  given->draft.acceptance = acceptance_of(options);
  given->draft.tokens = options.whole("draft-tokens", 5);
  given->model = std::make_unique<model::Model>(
      resolve_model(options.text("draft-model"), Hub(hub_flags(options))));
  const std::string held = options.text("draft-precision", "auto");
  const model::Scheme& scheme =
      held == "auto" ? model::default_scheme(*given->model, *s.runtime) : model::scheme(held);
  given->weights = std::make_unique<model::QuantisedModel>(model::quantise(*given->model, scheme));
  try {
    check_draft(s, *given->weights);
  } catch (const std::invalid_argument& e) {
    throw UsageError(e.what());
  }
  given->draft.weights = given->weights.get();
  assumed.push_back(fmt::format(
      "draft model {} in {}: {}; {} tokens proposed a step, {:.0f} % of them kept, {:.2f} tokens a "
      "step; {}",
      given->model->name, scheme.name, to_text(given->weights->total), given->draft.tokens,
      100 * given->draft.acceptance, tokens_per_step(given->draft),
      s.runtime->parallel.split == model::Split::tensors ? "divided over the same cards"
                                                         : "on the first card"));
  return given;
}

}  // namespace headroom::sweep
