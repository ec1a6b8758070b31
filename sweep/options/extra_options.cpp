#include "sweep/options/extra_options.hpp"

#include <fmt/format.h>

#include <charconv>

#include "hardware/quantity_text.hpp"
#include "model/checkpoint/text_only.hpp"
#include "model/engine/loaded_weights.hpp"
#include "model/engine/runs_on.hpp"
#include "sweep/options/adapter_options.hpp"
#include "sweep/output.hpp"

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
  weights = model::with_adapters(weights, *s.runtime, adapters, s.batch);
  assumed.push_back(
      fmt::format("{} of rank {}: {}, {}", counted(adapters.count, "adapter"),
                  adapters.request.rank, to_text(weights.adapters),
                  s.runtime->weights.adapters == model::AdapterMemory::slots
                      ? "slots for every linear layer of the decoder in 16 bit"
                      : fmt::format("in {} bytes an element, in addition to the adapted weights",
                                    s.runtime->weights.adapter_bytes)));
  return adapters;
}

namespace {

void check_has_towers(const model::Model& m) {
  if (!has_towers(m))
    throw std::invalid_argument(
        fmt::format("{} ({}) has no towers of images or sound", m.name, m.architecture));
}

void check_may_leave_towers_out(const model::Model& m, const model::Engine& engine) {
  if (engine.weights.towers == model::Towers::left_out)
    throw std::invalid_argument(
        fmt::format("{} never loads the towers of {}", engine.name, m.name));
  if (engine.weights.towers != model::Towers::optional)
    throw std::invalid_argument(
        fmt::format("{} loads the towers of {} always; llama.cpp, sglang and vllm can leave them "
                    "out",
                    engine.name, m.name));
}

}  // namespace

void check_text_only(const model::Model& m, const model::Engine& engine) {
  check_has_towers(m);
  check_may_leave_towers_out(m, engine);
}

void take_towers(const Options& options, model::Model& m, std::vector<std::string>& assumed) try {
  if (!options.given("text-only")) return;
  options.exclusive({"text-only", "images"});
  const Size before = m.profile.parameters;
  check_has_towers(m);
  m = without_towers(m);
  assumed.push_back(fmt::format("text only: towers and projectors of {} parameters are not loaded",
                                grouped(before - m.profile.parameters)));
} catch (const std::invalid_argument& e) {
  throw UsageError(fmt::format("--text-only: {}", e.what()));
}

void check_towers(const Options& options, const model::Engine& engine, const model::Model& m,
                  std::vector<std::string>& assumed) try {
  if (leaves_towers_out(engine, m))
    assumed.push_back(fmt::format("{} loads no towers of images or sound", engine.name));
  const bool chosen = !options.given("runtime") && engine.weights.towers == model::Towers::left_out;
  if (options.given("text-only") && !chosen) check_may_leave_towers_out(m, engine);
} catch (const std::invalid_argument& e) {
  throw UsageError(fmt::format("--text-only: {}", e.what()));
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
                                     model::ImageLimits limits, std::string_view text_flag) {
  options.requires_flag("image-size", "images");
  if (!options.given("images")) return std::nullopt;
  if (m.text_only)
    throw UsageError(fmt::format("--images: {} is loaded without its towers", m.name));
  if (m.images.kind == model::ImageTokens::unknown)
    throw UsageError(
        fmt::format("--images: {} ({}) takes none, or the number of their tokens is not described; "
                    "add their tokens to --{}",
                    m.name, m.architecture, text_flag));
  const bool fixed = m.images.kind == model::ImageTokens::fixed;
  if (fixed && options.given("image-size"))
    throw UsageError(fmt::format("--image-size has no effect: {} makes {} tokens of every image",
                                 m.name, m.images.tokens));
  if (!fixed && !options.given("image-size"))
    throw UsageError("--images needs --image-size WIDTHxHEIGHT: the tokens depend on it");
  GivenImages given{.count = options.whole("images", 1), .each = {}};
  try {
    given.each = image_input(m.images, fixed ? model::ImageSize{} : image_size(options), limits);
  } catch (const std::invalid_argument& e) {
    throw UsageError(fmt::format("--image-size: {}", e.what()));
  }
  return given;
}

void add_images(const Options& options, model::Scenario& s, std::vector<std::string>& assumed) {
  const model::Model& m = *s.weights->model;
  const auto given = images_of(options, m, model::image_limits(*s.runtime), "prompt-tokens");
  if (!given) return;
  const auto& [count, each] = *given;
  s.images = {count, each.patches, m.images.hidden};
  s.prompt_tokens += count * each.tokens;
  const Size least = s.prompt_tokens + s.output_tokens;
  const bool is_usual = !options.given("context") && !options.given("seq");
  if (is_usual && s.context > 0) s.context = std::max(s.context, least);
  if (s.context > 0 && s.context < least)
    throw UsageError(
        fmt::format("--context: {} is less than text, {} image tokens and output together ({})",
                    s.context, count * each.tokens, least));
  assumed.push_back(
      fmt::format("{} of {} each in every prompt, in addition to its text; {} each ({})",
                  counted(count, "image"), counted(each.tokens, "token"),
                  counted(each.patches, "patch"), m.images.source));
}

}  // namespace headroom::sweep
