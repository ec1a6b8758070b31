#include "sweep/sources/typed_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "hardware/names.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

/// The end of a name, and the scheme that it says; empty: it says none.
struct NameEnding {
  std::string_view text, scheme;
};
/// Longer endings come before those that they end in.
constexpr NameEnding name_endings[] = {{"-gptq-int4", "gptq-int4"},
                                       {"-gptq-int8", "gptq-int8"},
                                       {"-gptq", "gptq-int4"},
                                       {"-awq-int4", "awq-int4"},
                                       {"-awq", "awq-int4"},
                                       {"-fp8-dynamic", "fp8-channel"},
                                       {"-fp8-block", "fp8-block"},
                                       {"-fp8", "fp8"},
                                       {"-nvfp4", "nvfp4"},
                                       {"-bnb-4bit", "nf4"},
                                       {"-bf16", "bf16"},
                                       {"-fp16", "fp16"},
                                       {"-gguf", ""},
                                       {"-qat", ""},
                                       {"-instruct", ""},
                                       {"-chat", ""},
                                       {"-it", ""},
                                       {"-hf", ""},
                                       {"-base", ""}};

/// Names of ollama that do not say the model's own. Source: ollama.com/library, the pages
/// of these models, 2026-11.
struct LibraryName {
  std::string_view name, model;
};
constexpr LibraryName library_names[] = {
    {"command-r-35b", "CohereForAI/c4ai-command-r-v01"},
    {"deepseek-r1-32b", "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B"},
    {"deepseek-r1-671b", "deepseek-ai/DeepSeek-R1-0528"},
    {"deepseek-v3-671b", "deepseek-ai/DeepSeek-V3"},
    {"llama3.2-vision-11b", "meta-llama/Llama-3.2-11B-Vision-Instruct"},
    {"llama3.2-vision-90b", "meta-llama/Llama-3.2-90B-Vision-Instruct"},
    {"qwen3-235b", "Qwen/Qwen3-235B-A22B"},
    {"qwen3-30b", "Qwen/Qwen3-30B-A3B"},
    {"qwen3-coder-30b", "Qwen/Qwen3-Coder-30B-A3B-Instruct"},
    {"qwen3-coder-480b", "Qwen/Qwen3-Coder-480B-A35B-Instruct"},
};

/// Letters in lower case, without the owner, "-" for all separators but none between a family and
/// its version: "gemma3-27b" for "google/gemma-3-27B".
std::string spelled(std::string_view name) {
  std::string text;
  for (const char c : lower(name.substr(name.rfind('/') + 1))) {  // npos + 1 = 0
    const bool separates = c == '_' || c == ' ' || c == ':' || c == '-';
    const auto size = text.size();
    const auto letter = [](char each) { return each >= 'a' && each <= 'z'; };
    const bool after_letter = size > 1 && text[size - 1] == '-' && letter(text[size - 2]);
    if (after_letter && c >= '0' && c <= '9') text.pop_back();
    text += separates ? '-' : c;
  }
  return text;
}

/// `name` without its endings. The first scheme that they say goes to `scheme`.
std::string without_endings(std::string name, std::string& scheme) {
  for (bool again = true; again;) {
    again = false;
    for (const NameEnding& each : name_endings) {
      if (!name.ends_with(each.text)) continue;
      name.resize(name.size() - each.text.size());
      if (scheme.empty()) scheme = each.scheme;
      again = true;
    }
  }
  return name;
}

bool is_scheme(std::string_view name) {
  return std::ranges::any_of(
      model::schemes(), [&](const model::Scheme& row) { return lower(row.name) == lower(name); });
}

/// Takes the quantisation off "org/name:Q4_K_M", "qwen3-8b:q4_k_m" and "qwen3:8b-q4_k_m".
std::string tag_of(std::string_view& text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view tag = text.substr(colon + 1);
  if (text.substr(0, colon).find('/') != std::string_view::npos || is_scheme(tag)) {
    text = text.substr(0, colon);
    return std::string(tag);
  }
  const auto dash = tag.rfind("-q");
  if (dash == std::string_view::npos) return {};
  text = text.substr(0, colon + 1 + dash);
  return std::string(tag.substr(dash + 1));
}

std::string scheme_of_tag(std::string_view text, const std::string& tag) try {
  return tag.empty() ? tag : std::string(model::scheme(tag).name);
} catch (const UnknownName&) {
  throw UnknownName(
      fmt::format("{}: '{}' is not a known scheme; if types were chosen tensor by tensor, only the "
                  "file's header has them: give the .gguf file",
                  text, tag));
}

/// "qwen" of "Qwen/Qwen3-8B"; empty where the name has no owner.
std::string owner_of(std::string_view name) {
  const auto slash = name.find('/');
  return slash == std::string_view::npos ? std::string() : lower(name.substr(0, slash));
}

}  // namespace

std::optional<TypedName> typed_name(std::string_view text) {
  std::string_view name = text;
  const std::string tag = tag_of(name), owner = owner_of(name);
  TypedName found;
  const std::string asked = spelled(name), wanted = without_endings(asked, found.scheme);
  const bool anyone = owner.empty() || !tag.empty() || wanted != asked;
  const auto* library = std::ranges::find(library_names, wanted, &LibraryName::name);
  std::vector<std::string> converted, equal, same, alike;  // best first
  for (const std::string& each : catalogue_models(Need::counts)) {
    std::string own;
    if (without_endings(spelled(each), own) != wanted) continue;
    if (!anyone && owner_of(each) != owner) continue;
    if (own.empty())
      (spelled(each) == asked ? equal : spelled(each) == wanted ? same : alike).push_back(each);
    else if (own == found.scheme)
      converted.push_back(each);
  }
  if (owner.empty() && library != std::end(library_names)) equal = {std::string(library->model)};
  const auto& models = !converted.empty() ? converted
                       : !equal.empty()   ? equal
                       : !same.empty()    ? same
                                          : alike;
  if (!converted.empty()) found.scheme.clear();  // the checkpoint's own
  if (models.empty()) return std::nullopt;
  if (models.size() > 1)
    throw UnknownName(fmt::format("model '{}' is ambiguous: {}", text, fmt::join(models, ", ")));
  found.model = models.front();
  if (const std::string scheme = scheme_of_tag(text, tag); !scheme.empty()) found.scheme = scheme;
  return found;
}

}  // namespace headroom::sweep
