#include "sweep/launch/script.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/names.hpp"
#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/verdict_text.hpp"
#include "sweep/ways.hpp"

namespace headroom::sweep {

std::string comment(std::string_view text) { return fmt::format("# {}\n", one_line(text)); }

std::string heading(const LaunchPoint& point) {
  const model::Estimate& e = point.estimate();
  return "#!/bin/sh\n" +
         comment(fmt::format("{} in {} on {}: {}.", point.model().name, point.scheme().name,
                             point.scenario.machine->name, verdict_text(point.scenario, e))) +
         comment(fmt::format("Expected on the most loaded card: {} ({} to {}); {}.",
                             to_text(e.gpu_bytes), to_text(e.gpu_bytes_low),
                             to_text(e.gpu_bytes_high), point.rate_words()));
}

Boxes boxes_of(const LaunchPoint& point) {
  const Host& host = point.scenario.machine->host;
  const Size cards = point.estimate().gpus_used;
  const Boxes boxes = headroom::boxes_of(host, cards);
  if (cards != boxes.count * boxes.cards)
    throw std::invalid_argument(
        fmt::format("{} cards do not divide over {} boxes of {}: choose --tp and --pp for as many "
                    "cards in each",
                    cards, boxes.count, host.cards));
  return boxes;
}

std::string boxes_note(const Boxes& boxes) {
  if (!boxes.several()) return {};
  return fmt::format(
      "# Start this in each of {} boxes of {} cards: MASTER_ADDR is the address of the first,\n"
      "# NODE_RANK is 0 there and up to {} in the others.\n"
      ": \"${{MASTER_ADDR:?address of the first box}}\" \"${{NODE_RANK:?number of this box, from "
      "0}}\"\n",
      boxes.count, boxes.cards, boxes.count - 1);
}

std::string LaunchPoint::rate_words() const {
  if (!model().writes())
    return fmt::format("{} for {} of {} tokens", duration(estimate().ttft.value()),
                       counted(scenario.batch, "prompt"), scenario.prompt_tokens);
  if (scenario.batch < 2) return three_digits(estimate().tokens_s) + " tokens/s";
  return fmt::format("{} output tokens/s for {} at once",
                     three_digits(served_tokens_s(scenario, estimate())),
                     scenario.batch * std::max<Size>(1, scenario.data_parallel));
}

void EngineCommand::flag(std::string_view name, std::string_view value) {
  std::string plain(value);
  std::erase(plain, '\'');
  for (const std::string_view entry : engine_.serving.options) {
    const auto space = entry.find(' ');
    const std::string_view option = entry.substr(0, space);
    const bool with_value = option == fmt::format("{}={}", name, plain);
    if (option != name && !with_value) continue;
    if (space == std::string_view::npos)
      throw std::invalid_argument(
          fmt::format("{} has no {}{}{}", engine_.name, name, value.empty() ? "" : " ", value));
    name = entry.substr(space + 1);
    if (name == "-") return;
    if (with_value) value = {};
  }
  text_ += fmt::format(" \\\n  {}{}{}", name, value.empty() ? "" : " ", value);
}

void EngineCommand::chunk(const model::Scenario& s, Size replicas) {
  if (s.chunk_tokens > 0)
    flag(s.runtime->serving.chunk_option, std::to_string(s.chunk_tokens * replicas));
}

std::string gguf_type(const model::Scheme& scheme) {
  std::string name = lower(scheme.name);
  if (const auto imatrix = name.find("-imatrix"); imatrix != std::string::npos)
    name.resize(imatrix);
  if (name.starts_with("gguf-")) name.erase(0, name.find('-') + 1);
  if (name == "mxfp4-moe") name = "mxfp4";
  if (name.starts_with("fp16") || name.starts_with("fp32")) name.erase(1, 1);
  std::ranges::transform(name, name.begin(), [](char c) {
    return c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return name;
}

std::string gguf_name(const model::QuantisedModel& weights) {
  return fmt::format("{}-{}.gguf", short_model_name(weights.model->name), weights.scheme->name);
}

std::string gguf_file(const model::QuantisedModel& weights) {
  const std::string& given = weights.model->repository;
  return shell_quoted(given.ends_with(".gguf") ? given : gguf_name(weights));
}

std::string gguf_note(const model::QuantisedModel& weights) {
  if (!weights.model->repository.empty()) return {};
  return fmt::format(
      "# The file is made by convert_hf_to_gguf.py and llama-quantize. For a published one "
      "replace\n"
      "# --model by --hf-repo ORG/NAME-GGUF:{}.\n",
      gguf_type(*weights.scheme));
}

std::string gguf_repository(const model::QuantisedModel& weights) {
  const std::string& given = weights.model->repository;
  if (given.find(':') != std::string::npos) return given;
  if (!lower(given).ends_with("-gguf")) return {};
  return fmt::format("{}:{}", given, gguf_type(*weights.scheme));
}

Size served_context(const model::Scenario& s) {
  const model::Model& model = *s.weights->model;
  if (!model.writes() && s.context == 0) return s.prompt_tokens;
  const bool is_limited = model.encoder_decoder && model.shape.positions > 0;
  return is_limited ? std::min(s.cached_tokens(), model.shape.positions) : s.cached_tokens();
}

std::string adapter_file(Size i) { return fmt::format("adapter-{}", i + 1); }

bool counts_output(const model::Scenario& s, const model::Plan& plan) {
  return plan.head == model::Where::card ||
         (s.runtime->offload.output_first && plan.computes_on_card);
}

Size offloaded_layers(const model::Scenario& s, const model::Plan& plan) {
  const model::Model& model = *s.weights->model;
  const Size layers = model.profile.generative ? model::counted_layers(model, plan.on_cards)
                                               : plan.on_cards.size() + plan.tower.size();
  return layers + (counts_output(s, plan) ? 1 : 0);
}

model::Plan split_of(const LaunchPoint& point) {
  return model::place(model::admitted_scenario(point.scenario), 1.0);
}

std::string_view torch_type(const model::Scheme& scheme) {
  return scheme.name == "fp32" ? "float32" : scheme.name == "fp16" ? "float16" : "bfloat16";
}

RealBytes budget_of_card(const model::Scenario& s) {
  if (s.gpu_share > 0) return s.gpu_share * s.machine->devices.front().memory.real();
  return card_budget(s, 0).real();
}

}  // namespace headroom::sweep
