// Finds the row of a config in the table of architectures.
#include "model/describe/architecture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "hardware/embedded.hpp"
#include "hardware/names.hpp"
#include "hardware/sorted_table.hpp"
#include "model/describe/class_defaults.hpp"
#include "model/describe/config_words.hpp"
#include "model/describe/head_tie.hpp"

namespace headroom::model {

namespace {

/// The row of a class name; of several rows, the one with the config's model_type. Configs of
/// custom code may spell the class in another letter case (MPTForCausalLM). This row counts only if
/// model_type agrees.
const Architecture* find(std::string_view name, std::string_view model_type) {
  const Architecture* found = nullptr;
  for (const auto& row : architectures())
    if (row.name == name && (!found || row.model_type == model_type)) found = &row;
  for (const auto& row : architectures())
    if (!found && row.model_type == model_type && lower(row.name) == lower(name)) found = &row;
  return found;
}

bool is_decoder(const Architecture* row) {
  return row->name.ends_with("ForCausalLM") || row->name.ends_with("LMHeadModel");
}

/// "LlamaModel" next to "LlamaForCausalLM", and a class that serves the same model in real time. A
/// config without `architectures` never means them.
bool is_base_model(const Architecture* row) {
  return (row->name.ends_with("Model") && !row->name.ends_with("HeadModel")) ||
         row->name.ends_with("RealtimeGeneration");
}

/// "LlamaForSequenceClassification" and the like. A config without `architectures` does not mean
/// them where there is a decoder.
bool is_task_head(const Architecture* row) {
  return row->name.ends_with("Classification") || row->name.ends_with("ForQuestionAnswering");
}

/// Custom code that transformers does not have: the config has an auto_map, or its class is one
/// that many repositories carry.
constexpr std::string_view custom_classes[] = {
    "BaichuanForCausalLM", "BaiChuanForCausalLM", "ChatGLMModel",         "DeciLMForCausalLM",
    "DeepseekForCausalLM", "ExaoneForCausalLM",   "InternLM2ForCausalLM", "InternLMForCausalLM",
    "MiMoForCausalLM",     "RWForCausalLM"};
bool is_custom_code(const Config& config, std::string_view name) {
  return config.has("auto_map") ||
         std::ranges::find(custom_classes, name) != std::end(custom_classes);
}

/// Families of audio codecs and of speech synthesis, by the start of their model_type and class.
constexpr std::string_view synthesis_families[] = {
    "bark",    "csm",       "dac",   "dia",      "encodec",      "fastspeech2", "higgs_audio",
    "kyutai",  "mimi",      "moshi", "musicgen", "parler_tts",   "pop2piano",   "speecht5",
    "univnet", "vibevoice", "vits",  "vocos",    "wavtokenizer", "xcodec"};

bool is_speech_synthesis(std::string_view name) {
  std::string plain = lower(name);
  std::erase(plain, '_');
  return std::ranges::any_of(synthesis_families, [&](std::string_view family) {
    std::string start(family);
    std::erase(start, '_');
    const std::string_view rest =
        std::string_view(plain).substr(std::min(start.size(), plain.size()));
    // Short names start other words too ("dialogue"). Their classes go on with "For" or "Model".
    return plain.starts_with(start) && (start.size() > 3 || rest.empty() ||
                                        rest.starts_with("for") || rest.starts_with("model"));
  });
}

/// Which engines have a class, and how to borrow the nearest description; begins with a semicolon.
std::string what_would_work(std::string_view key, std::string_view name) {
  static const SortedTable engines(embedded_models().content("engine_classes.tsv"));
  const bool by_type = key == "model_type";
  std::set<std::string> known;
  for (const auto& row : architectures()) known.emplace(by_type ? row.model_type : row.name);
  const auto near = nearest(name, std::vector<std::string>(known.begin(), known.end()));
  std::string text;
  if (const auto those = engines.row(std::string(name) + '\t'); !by_type && !those.empty())
    text = fmt::format("; it runs in {}", those);
  text += fmt::format("; nearest: {}", fmt::join(near, ", "));
  if (!by_type)
    text += fmt::format(
        ". 'MODEL?architectures={}' borrows that description; then no answer is certain",
        near.front());
  return text;
}

[[noreturn]] void fail_unknown(const Config& config, std::string_view key, std::string_view name) {
  if (is_custom_code(config, name))
    throw NotDescribed(fmt::format(
        "{}: key '{}': '{}' is code of its own repository, not of transformers, and is not "
        "described; counts and bytes need the headers of its tensors: give the folder with "
        ".safetensors files or their index, a .gguf, or its name on the hub{}",
        config.origin(), key, name, what_would_work(key, name)));
  if (is_speech_synthesis(name))
    throw NotDescribed(
        fmt::format("{}: key '{}': '{}': audio codecs and speech synthesis are not "
                    "described",
                    config.origin(), key, name));
  throw NotDescribed(fmt::format("{}: key '{}': '{}' is not described{}", config.origin(), key,
                                 name, what_would_work(key, name)));
}

/// Leaves the first of the decoders that one function describes. The others are its names in
/// engines and in custom code.
void drop_aliases(std::vector<const Architecture*>& rows) {
  std::vector<const Architecture*> kept;
  for (const Architecture* row : rows)
    if (!is_decoder(row) || std::ranges::none_of(kept, [&](const Architecture* other) {
          return is_decoder(other) && other->describe == row->describe;
        }))
      kept.push_back(row);
  rows = std::move(kept);
}

/// Leaves the classes with the family's own name, where there are some. A config of that type that
/// means another family's class names it.
void drop_other_families(std::vector<const Architecture*>& rows, std::string_view type) {
  std::string family = lower(type);
  std::erase(family, '_');
  const auto other = [&](const Architecture* row) { return !lower(row->name).starts_with(family); };
  if (!std::ranges::all_of(rows, other)) std::erase_if(rows, other);
}

const Architecture& row_of(const Config& config) {
  const std::string type = config.text({"model_type"}, "");
  if (config.has("architectures")) {
    const std::string name = config.architecture();
    if (const auto* row = find(name, type)) return *row;
    fail_unknown(config, "architectures", name);
  }
  if (type.empty())
    throw NotDescribed(config.origin() +
                       ": key 'architectures': is missing, and so is 'model_type': one of them is "
                       "needed");
  std::vector<const Architecture*> candidates;
  for (const auto& row : architectures())
    if (row.model_type == type) candidates.push_back(&row);
  if (candidates.size() > 1) std::erase_if(candidates, is_base_model);
  if (std::any_of(candidates.begin(), candidates.end(), is_decoder))
    std::erase_if(candidates, is_task_head);
  drop_aliases(candidates);
  if (candidates.size() > 1) drop_other_families(candidates, type);
  if (candidates.empty()) fail_unknown(config, "model_type", type);
  if (candidates.size() != 1) {
    std::vector<std::string_view> names;
    for (const auto& row : architectures())
      if (row.model_type == type) names.push_back(row.name);
    config.fail("architectures", fmt::format("is missing, and model_type '{}' may be any of {}",
                                             type, fmt::join(names, ", ")));
  }
  return *candidates.front();
}

}  // namespace

std::string_view counted_only(std::string_view name, std::string_view model_type) {
  const Architecture* row = find(name, model_type);
  return row != nullptr ? row->counted_only : std::string_view{};
}

std::string_view described_type(std::string_view name) {
  const Architecture* row = find(name, "");
  return row != nullptr ? row->model_type : std::string_view{};
}

void check_size(const Part& part) {
  constexpr Size most = Size{1} << 58;
  Size total = 0;
  for (const auto& t : part.tensors) {
    const Size elements = times(t.shape);
    if (elements > most || (total += elements) > most)
      throw std::overflow_error(t.name + ": more than 2^58 elements");
  }
}

namespace {

/// A config of a head that names the class of its layers would be read as a model of one layer.
void check_draft(const Config& config, const Architecture& row) {
  if (row.counted_only.empty() && config.has("draft_vocab_size"))
    config.fail(
        "draft_vocab_size",
        fmt::format("is a key of heads that propose tokens for another model, and {} is no such "
                    "head; expected its class in 'architectures', such as LlamaForCausalLMEagle3",
                    row.name));
}

}  // namespace

std::string class_against_type(const Config& config) {
  const std::string type = config.text({"model_type"}, ""), name = config.class_name();
  if (type.empty() || name.empty() || config.has("auto_map")) return {};
  bool known_name = false;
  std::string_view of_type;
  for (const auto& row : architectures()) {
    if (row.name == name && row.model_type == type) return {};
    known_name = known_name || row.name == name;
    if (row.model_type == type && of_type.empty()) of_type = row.name;
  }
  if (!known_name || of_type.empty()) return {};
  return fmt::format(
      "the class of key 'architectures', {}, as vllm does, though key 'model_type' is {}, the type "
      "of {}, which transformers goes by",
      name, type, of_type);
}

std::string_view described_class(const Config& config) { return row_of(config).name; }

Part describe(const Config& config) {
  const Architecture& row = row_of(config);
  check_words(config);
  check_draft(config, row);
  try {
    Part part{.modules = {{"", std::string(row.name)}}};
    part = std::move(part) +
           row.describe(with_optional_class_defaults(config, row.model_type).as_class(row.name));
    part = with_text_tie(std::move(part), config);
    check_size(part);
    return part;
  } catch (const std::length_error& e) {
    throw ConfigError(config.origin() + ": " + e.what());
  } catch (const std::overflow_error& e) {
    throw ConfigError(config.origin() + ": " + e.what());
  }
}

}  // namespace headroom::model
