#include "sweep/screen/advice_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/quantity_text.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/answer_lines.hpp"

namespace headroom::sweep {
namespace {

using model::Advice;
using model::AfterChange;

std::string fits_on(int gpus) { return "fits on " + counted(gpus, "GPU"); }

std::string time_of(Seconds token) { return duration(token.value()) + " a token"; }

/// Words for a model that is wholly on cards.
std::string on_cards(const AfterChange& at) {
  return fmt::format("{} with {} GiB{}", fits_on(at.gpus), in_gib(at.card),
                     at.token.value() > 0 ? ", " + time_of(at.token) : "");
}

/// Words for a model that is partly in host memory.
std::string with_host(const AfterChange& at) {
  return fmt::format(
      "{} GiB on the fullest card and {} GiB in host memory{}, {}", in_gib(at.card),
      in_gib(at.host),
      at.disk > Bytes(0) ? fmt::format(" and {} GiB on disk", in_gib(at.disk)) : std::string(),
      time_of(at.token));
}

std::string_view freed_words(model::Freed freed) {
  constexpr std::string_view words[] = {"", "without --cpu-offload-gb",
                                        "without options that keep tensors in host memory",
                                        "with the cards in use"};
  return words[static_cast<std::size_t>(freed)];
}

/// "--runtime llama.cpp loads it; vllm usually runs fp8, awq-int4".
std::string other_precision_words(const Advice& a) {
  std::string text;
  if (!a.others.empty())
    text =
        fmt::format("--runtime {} {} it{}", fmt::join(a.others, " or "),
                    a.others.size() == 1 ? "loads" : "load", a.amount > 0 ? " on other cards" : "");
  if (!a.names.empty())
    text += fmt::format("{}under {} --precision is usually {}", text.empty() ? "" : "; ", a.engine,
                        fmt::join(a.names, ", "));
  return text.empty() ? "choose another runtime or precision" : text;
}

/// Changes of what is asked for.
std::string change_words(const Advice& a) {
  using enum Advice::Kind;
  switch (a.kind) {
    case fewer_bits:
      return fmt::format("{}: {} -> {} GiB, {}", a.name, in_gib(a.before), in_gib(a.after),
                         on_cards(a.then));
    case usable_bits:
      return fmt::format("--precision {}{}{}: {} -> {} GiB of weights, {}", a.name,
                         a.engine.empty() ? "" : fmt::format(" --runtime {}", a.engine),
                         a.amount > 0 ? ", below 4 bits" : "", in_gib(a.before), in_gib(a.after),
                         a.then.on_gpus ? on_cards(a.then) : with_host(a.then));
    case text_only:
      return fmt::format("--text-only, without {} GiB of vision and audio towers: {}",
                         in_gib(a.before), on_cards(a.then));
    case narrower_cache:
      return fmt::format("KV cache in {}: {}", a.name, on_cards(a.then));
    case shorter_context:
      return fmt::format("a context of {} tokens instead of {}: {}", a.amount, a.instead_of,
                         on_cards(a.then));
    case smaller_batch:
      return fmt::format("batch {} instead of {}: {}", a.amount, a.instead_of, on_cards(a.then));
    case larger_share:
      return fmt::format("--gpu-memory-utilization {:.2g}: {}", static_cast<double>(a.amount) / 100,
                         on_cards(a.then));
    case other_sequences:
      return fmt::format("--max-num-seqs {}: {}", a.amount, on_cards(a.then));
    case more_cards:
      if (a.instead_of == 0)
        return fmt::format("{} more {}: {}", a.amount, a.name, on_cards(a.then));
      return fmt::format("{} GPUs of {} instead of {}: {}", a.amount, a.name, a.instead_of,
                         on_cards(a.then));
    case engines_own_split:
      return fmt::format("these GPUs without --tp and --pp (the default split of {}): {}", a.engine,
                         on_cards(a.then));
    case freed_alone:
      return a.then.on_gpus ? on_cards(a.then) : with_host(a.then);
    case no_cards:
      return fmt::format("--gpu-budget 0: {}{} GiB in host memory, {}",
                         a.name.empty() ? "" : fmt::format("unpacked to {}, ", a.name),
                         in_gib(a.then.host), time_of(a.then.token));
    case caches_on_host:
      return "--no-kv-offload: " + with_host(a.then);
    case weights_on_host:
      return fmt::format("--cpu-offload-gb {}: {}", a.amount, with_host(a.then));
    case fewer_layers:
      return fmt::format("--gpu-layers {}: the most that fit", a.amount);
    default:
      return {};
  }
}

/// Other splits and other engines.
std::string other_words(const Advice& a) {
  using enum Advice::Kind;
  switch (a.kind) {
    case engine_offloads:
      return fmt::format("{} offloads: {}", a.engine, with_host(a.then));
    case engine_on_cpu:
      return fmt::format("{} runs on a CPU, {} weights: {} GiB in host memory, {}", a.engine,
                         a.name, in_gib(a.then.host), time_of(a.then.token));
    case split:
      return fmt::format("{}--tp {} --pp {}: {}, {}",
                         a.engine.empty() ? std::string() : fmt::format("--runtime {} ", a.engine),
                         a.tensor, a.pipeline, fits_on(a.then.gpus), time_of(a.then.token));
    case one_box:
      return fmt::format("the {} cards of one machine: {}, {}", a.amount, fits_on(a.then.gpus),
                         time_of(a.then.token));
    case layers_over_cards:
      return fmt::format("without --tp, --pp, --dp and --ep: layers on {}, {}",
                         counted(a.then.gpus, "GPU"), time_of(a.then.token));
    case engines_for_cards:
      return fmt::format("an engine that runs on these cards: {}; {} runs on {}",
                         fmt::join(a.names, ", "), a.engine, a.text);
    case engines_for_model:
      return fmt::format("an engine that runs {}: {}", a.name, fmt::join(a.names, ", "));
    case needs_gpu:
      return fmt::format(
          "{} needs a GPU, and no engine fits the model in this host's memory: use a machine with "
          "a card, or a smaller model",
          a.engine);
    default:
      return {};
  }
}

std::string one_cache_format_words(const Advice& a) {
  std::string text =
      fmt::format("{0} {1}: {2} or {3}, not {2}/{3}", a.engine, a.text, a.name, a.names.front());
  if (!a.others.empty())
    text += fmt::format("; {}/{} is one of {}", a.name, a.names.front(), fmt::join(a.others, ", "));
  return text;
}

/// The missing or unsupported feature.
std::string missing_words(const Advice& a) {
  using enum Advice::Kind;
  switch (a.kind) {
    case at_most_context:
      return fmt::format("a context of at most {} tokens", a.amount);
    case keep_cache:
      return "keep the KV cache, or use transformers";
    case other_cache: {
      std::string text =
          fmt::format("{} has no KV cache in {}{}: it has {} ({})", a.engine, a.name,
                      a.amount > 0 ? " on these cards" : "", fmt::join(a.names, ", "), a.text);
      if (!a.others.empty())
        text += fmt::format("; {} is one of {}", a.name, fmt::join(a.others, ", "));
      return text;
    }
    case one_cache_format:
      return one_cache_format_words(a);
    case other_precision:
      return fmt::format("{} does not support {} weights{}: {}", a.engine, a.name,
                         a.text.empty() ? "" : " (" + a.text + ")", other_precision_words(a));
    case host_memory:
      return fmt::format("{} GiB more host memory", enough_gib(a.before));
    case disk:
      return fmt::format("{} GiB more disk", enough_gib(a.before));
    case other_model:
      return fmt::format("{} in {}: {} GiB, {}", a.text, a.name, in_gib(a.after), on_cards(a.then));
    case smaller_model:
      return a.amount > 0 ? "no change of precision or of cards in this host puts all of it on "
                            "GPUs: choose a smaller model or another host"
                          : "no change of precision or of cards in this host makes it run at a "
                            "token a second: choose a smaller model or another host";
    default:
      return {};
  }
}

}  // namespace

std::string advice_words(const Advice& advice) {
  std::string words = change_words(advice);
  if (words.empty()) words = other_words(advice);
  if (words.empty()) words = missing_words(advice);
  return advice.freed == model::Freed::none
             ? words
             : fmt::format("{}: {}", freed_words(advice.freed), words);
}

std::string advice_words(std::span<const Advice> advice) {
  std::vector<std::string> all;
  for (const Advice& each : advice) all.push_back(advice_words(each));
  return fmt::format("{}", fmt::join(all, "; or "));
}

}  // namespace headroom::sweep
