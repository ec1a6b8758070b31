// vLLM's start-up log: the engine's configuration, the memory of a card and the room for its cache,
// in the words of versions 0.6 to 0.27.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "hardware/units.hpp"
#include "model/engine/engine.hpp"
#include "sweep/accuracy/engine_versions.hpp"
#include "sweep/accuracy/measured_file.hpp"

namespace headroom::sweep {
namespace {

constexpr std::size_t not_found = std::string_view::npos;

/// Text after the first of `keys` that is present, up to the line's end.
std::optional<std::string_view> after(std::string_view text,
                                      std::initializer_list<std::string_view> keys) {
  for (const auto key : keys)
    if (const auto at = text.find(key); at != not_found) {
      text.remove_prefix(at + key.size());
      return text.substr(0, text.find('\n'));
    }
  return std::nullopt;
}

/// The number at the start of what follows one of `keys`; commas group its digits.
std::optional<double> number(std::string_view text, std::initializer_list<std::string_view> keys) {
  const auto rest = after(text, keys);
  if (!rest) return std::nullopt;
  std::string digits(rest->substr(0, rest->find_first_not_of("-.,0123456789")));
  std::erase(digits, ',');
  while (digits.ends_with('.')) digits.pop_back();
  const auto value = leading_number(digits);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// A value of the engine's configuration: up to a comma, without quotes.
std::string setting(std::string_view text, std::string_view key) {
  const auto rest = after(text, {key});
  if (!rest) return {};
  std::string value(rest->substr(0, rest->find_first_of(",) ")));
  std::erase_if(value, [](char c) { return c == '\'' || c == '"'; });
  return value;
}

bool has_weights(std::string_view text) {
  return after(text, {"odel loading took ", "oading model weights took "}).has_value();
}

/// The precision that a row of vLLM calls `word`; the word itself where the row has none.
std::string cache_precision_of(const std::string& runtime, const std::string& word) {
  for (const model::CacheFormat& each : model::engine(runtime).cache.formats)
    if (each.word == word) return std::string(each.precision);
  return word;
}

/// One start of an engine, as its lines say.
class Start {
 public:
  Start(std::string_view text, const RowDefaults& defaults) : text_(text), defaults_(defaults) {
    const double tensors = number(text, {"tensor_parallel_size="}).value_or(1);
    const double stages = number(text, {"pipeline_parallel_size="}).value_or(1);
    const auto version = after(text, {"LLM engine ("});
    fields_ = {
        {"model", model()},
        {"precision", precision()},
        {"runtime",
         std::string(vllm_of(version ? std::string(version->substr(0, version->find(')'))) : ""))},
        {"batch", "1"},
        {"tp", fmt::format("{:.0f}", tensors)},
        {"pp", fmt::format("{:.0f}", stages)},
        {"form", "amount"}};
    const std::string cache = setting(text, "kv_cache_dtype=");
    if (!cache.empty() && cache != "auto")
      fields_["kv_precision"] = cache_precision_of(fields_["runtime"], cache);
    if (const std::string drafts = setting(text, "speculative_config=");
        !drafts.empty() && drafts != "None")
      fields_["missing"] = "feature: speculative decoding";
  }

  /// `notes`: what the log says and no row holds.
  std::vector<Measurement> rows(std::vector<std::string>& notes) {
    const auto weights = number(text_, {"odel loading took ", "oading model weights took "});
    if (!weights || *weights <= 0)
      throw std::runtime_error("no size of the weights in the line \"Model loading took …\"");
    add("card_weights:0", *weights * GiB, {});
    const auto context = longest();
    const auto left = number(
        text_, {"vailable KV cache memory: ", "reserved for KV Cache is ", " kv_cache_size="});
    if (context && left) {
      if (const auto share = budget())
        add("all_but_cache", (*share - *left) * GiB, context);
      else
        notes.emplace_back(
            "the log names no memory of the card, so the overhead besides the KV cache is unknown");
      if (const auto sequences = concurrency(*context); sequences && *left > 0)
        add("card_cache", *left / *sequences * GiB, context);
    } else {
      notes.emplace_back(
          "the log has neither the cache's memory nor the longest sequence: not read");
    }
    load_time(notes);
    if (const auto graphs = after(text_, {"raph capturing finished in "}))
      if (const auto took = number(*graphs, {"took "}))
        notes.push_back(fmt::format(
            "captured graphs take {:.2f} GiB of each card beyond the figures here", *took));
    return std::move(rows_);
  }

 private:
  std::string model() const {
    if (!defaults_.model.empty()) return defaults_.model;
    const std::string name = setting(text_, "model=");
    if (name.empty())
      throw std::runtime_error(
          "a log without the line of the engine's configuration (model='…'); give --model");
    return reference_of(name, defaults_);
  }

  /// The checkpoint's own, unless it is quantised or widened as it is loaded.
  std::string precision() const {
    if (!defaults_.precision.empty()) return defaults_.precision;
    const std::string quantised = setting(text_, "quantization=");
    if (quantised == "fp8") return "fp8";
    if (quantised == "bitsandbytes") return "nf4";
    return setting(text_, " dtype=") == "torch.float32" ? "fp32" : "auto";
  }

  std::optional<double> longest() const {
    return number(text_, {"max_seq_len=", "aximum concurrency for "});
  }

  /// GiB of a card that the engine may use, without what graphs take later.
  std::optional<double> budget() const {
    if (const auto line = after(text_, {"current vLLM instance can use"}))
      return number(*line, {") = "});
    if (const auto line = after(text_, {"Desired GPU memory utilization is ("}))
      return number(*line, {", "});
    if (const auto line = after(text_, {"Memory profiling results:"})) {
      const auto total = number(*line, {"total_gpu_memory="});
      const auto share = number(*line, {"gpu_memory_utilization="});
      if (total && share) return *total * *share;
    }
    const auto share = number(text_, {"gpu_memory_utilization': ", "gpu_memory_utilization="});
    // Arguments that are not the default are listed: what is not there is 0.9.
    const bool listed = text_.find("non-default args") != not_found;
    if (!defaults_.card_memory || (!share && !listed)) return std::nullopt;
    return share.value_or(0.9) * real_count(*defaults_.card_memory) / GiB;
  }

  /// Number of the longest sequences that the cache holds. The tokens have more digits than the
  /// ratio, but are not of a sequence where layers cache differently.
  std::optional<double> concurrency(double context) const {
    const auto line = after(text_, {"aximum concurrency for "});
    const auto ratio = line ? number(*line, {"per request: "}) : std::nullopt;
    if (!ratio || *ratio <= 0) return std::nullopt;
    auto tokens = number(text_, {"GPU KV cache size: "});
    constexpr double usual_block = 16;
    if (!tokens)
      tokens =
          usual_block *
          number(text_, {"# GPU blocks: ", "# CUDA blocks: ", "# cuda blocks: ", "# rocm blocks: "})
              .value_or(0);
    return std::abs(*tokens / context - *ratio) < 0.006 ? *tokens / context : ratio;
  }

  void load_time(std::vector<std::string>& notes) {
    const auto line = after(text_, {"odel loading took "});
    const auto seconds = line ? number(*line, {" and "}) : std::nullopt;
    if (!seconds || *seconds <= 0) return;
    if (text_.find("downloading weights") != not_found) {
      notes.emplace_back("the load time includes a download: not read");
      return;
    }
    add("load_weights", *seconds, {});
  }

  void add(std::string figure, double value, std::optional<double> context) {
    Fields fields = fields_;
    fields["prompt_tokens"] = context ? fmt::format("{:.0f}", std::max(1.0, *context - 1)) : "1";
    fields["output_tokens"] = "1";
    fields["unit"] = figure == "load_weights" ? "s" : "bytes";
    fields["figure"] = std::move(figure);
    fields["value"] = fmt::format("{}", value);
    rows_.push_back(measurement_of(std::move(fields)));
  }

  std::string_view text_;
  const RowDefaults& defaults_;
  Fields fields_;
  std::vector<Measurement> rows_;
};

}  // namespace

bool is_vllm_log(std::string_view text) {
  // Lines cut out of a log need not name the program; these are its own words.
  return has_weights(text) &&
         after(text, {"vllm", "vLLM", "VLLM", "LLM engine", "KV cache", "KV Cache", "GPU blocks"});
}

std::vector<Measurement> vllm_log_rows(std::string_view text, const RowDefaults& defaults,
                                       std::vector<std::string>& notes) {
  // The last start counts: those before it ended, or are other ranks of the same.
  constexpr std::string_view word = "Initializing a";
  for (auto at = text.rfind(word); at != not_found && at > 0; at = text.rfind(word, at - 1))
    if (has_weights(text.substr(at)) && text.substr(at).find("model=") != not_found) {
      // Arguments stand before the engine's own line.
      const auto arguments = text.rfind("non-default args", at);
      const auto before = text.rfind(word, at - 1);
      text.remove_prefix(
          arguments != not_found && (before == not_found || arguments > before) ? arguments : at);
      break;
    }
  return Start(text, defaults).rows(notes);
}

}  // namespace headroom::sweep
