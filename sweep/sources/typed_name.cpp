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
  std::string_view maker = {};  ///< part of the owner's name; empty: whoever owns it
};
/// Longer endings come before those that they end in. Endings of MLX and GGUF follow from their
/// schemes.
constexpr NameEnding name_endings[] = {{"-gptq-int4", "gptq-int4"},
                                       {"-gptq-int8", "gptq-int8"},
                                       {"-gptq-4bit", "gptq-int4"},
                                       {"-gptq-8bit", "gptq-int8"},
                                       {"-int4-autoround", "auto-round-int4"},
                                       {"-gptq", "gptq-int4"},
                                       {"-awq-int4", "awq-int4"},
                                       {"-awq-4bit", "awq-int4"},
                                       {"-awq", "awq-int4"},
                                       {"-quantized.w4a16", "int4"},
                                       {"-w4a16", "int4"},
                                       {"-quantized.w8a8", "w8a8-int8"},
                                       {"-w8a8", "w8a8-int8"},
                                       {"-fp8-dynamic", "fp8-channel"},
                                       {"-fp8-block", "fp8-block"},
                                       {"-fp8", "fp8"},
                                       {"-nvfp4a16", "nvfp4"},
                                       {"-nvfp4", "nvfp4"},
                                       {"-mxfp4", "mxfp4"},
                                       {"-fp4", "nvfp4", "nvidia"},
                                       {"-fp8-kv", "fp8", "amd"},
                                       {"-bnb-4bit", "nf4"},
                                       {"-bf16", "bf16"},
                                       {"-fp16", "fp16"},
                                       {"-gguf", ""},
                                       {"-mlx", ""},
                                       {"-dwq", "", "mlx"},
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
    {"command-r:35b", "CohereForAI/c4ai-command-r-v01"},
    {"deepseek-r1:1.5b", "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B"},
    {"deepseek-r1:7b", "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B"},
    {"deepseek-r1:32b", "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B"},
    {"deepseek-r1:671b", "deepseek-ai/DeepSeek-R1-0528"},
    {"deepseek-v3:671b", "deepseek-ai/DeepSeek-V3"},
    {"devstral-2:123b", "mistralai/Devstral-2-123B-Instruct-2512"},
    {"devstral-small-2:24b", "mistralai/Devstral-Small-2-24B-Instruct-2512"},
    {"devstral:24b", "mistralai/Devstral-Small-2507"},
    {"llama3.2-vision:11b", "meta-llama/Llama-3.2-11B-Vision-Instruct"},
    {"llama3.2-vision:90b", "meta-llama/Llama-3.2-90B-Vision-Instruct"},
    {"llama4:maverick", "meta-llama/Llama-4-Maverick-17B-128E-Instruct"},
    {"llama4:scout", "meta-llama/Llama-4-Scout-17B-16E-Instruct"},
    {"nemotron-3-nano:30b", "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"},
    {"phi4-mini:3.8b", "microsoft/Phi-4-mini-instruct"},
    {"phi4:14b", "microsoft/phi-4"},
    {"qwen3:30b", "Qwen/Qwen3-30B-A3B"},
    {"qwen3-coder:30b", "Qwen/Qwen3-Coder-30B-A3B-Instruct"},
    {"qwen3-coder:480b", "Qwen/Qwen3-Coder-480B-A35B-Instruct"},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "4bit" or "4-bit" is a width, and no version of a family.
bool says_width(std::string_view text) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  if (text.starts_with('-')) text.remove_prefix(1);
  return digits > 0 && text.starts_with("bit");
}

/// Letters in lower case, without the owner, "-" for all separators but none between a family and
/// its version: "gemma3-27b" for "google/gemma-3-27B".
std::string spelled(std::string_view name) {
  const std::string plain = lower(name.substr(name.rfind('/') + 1));  // npos + 1 = 0
  std::string text;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    const bool separates = c == '_' || c == ' ' || c == ':' || c == '-';
    const auto size = text.size();
    const auto letter = [](char each) { return each >= 'a' && each <= 'z'; };
    const bool after_letter = size > 1 && text[size - 1] == '-' && letter(text[size - 2]);
    if (after_letter && is_digit(c) && !says_width(std::string_view(plain).substr(i)))
      text.pop_back();
    text += separates ? '-' : c;
  }
  return text;
}

/// Takes `ending` off `name`, unless nothing would be left.
bool take_off(std::string& name, std::string_view ending) {
  if (name.size() <= ending.size() || !name.ends_with(ending)) return false;
  name.resize(name.size() - ending.size());
  return true;
}

/// Endings by which conversions name their row of `schemes`: "-mlx-4bit", of the owners of MLX's
/// conversions "-4bit" alone, and "-q4-k-m".
const std::vector<std::pair<std::string, NameEnding>>& scheme_endings() {
  static const auto all = [] {
    constexpr std::string_view mlx = "mlx";
    std::vector<std::pair<std::string, NameEnding>> rows;
    for (const model::Scheme& row : model::schemes()) {
      if (row.family != model::SchemeFamily::gguf && row.family != model::SchemeFamily::mlx)
        continue;
      const std::string full = '-' + spelled(row.name);
      rows.push_back({full, {{}, row.name, {}}});
      if (row.family == model::SchemeFamily::mlx)
        rows.push_back({full.substr(1 + mlx.size()), {{}, row.name, mlx}});
    }
    return rows;
  }();
  return all;
}

/// `name` without its endings. The first scheme that they say goes to `scheme`.
std::string without_endings(std::string name, std::string_view owner, std::string& scheme) {
  const auto take = [&](std::string_view text, const NameEnding& row) {
    if (owner.find(row.maker) == owner.npos || !take_off(name, text)) return false;
    if (scheme.empty()) scheme = row.scheme;
    return true;
  };
  for (bool again = true; again;) {
    again = false;
    for (const auto& [text, row] : scheme_endings()) again = take(text, row) || again;
    for (const NameEnding& each : name_endings) again = take(each.text, each) || again;
  }
  return name;
}

/// "qwen3.5-35b" of "qwen3.5-35b-a3b": ollama's tags say all parameters alone.
std::string without_active(const std::string& name) {
  for (auto at = name.find("-a"); at != name.npos; at = name.find("-a", at + 1)) {
    const auto end = name.find_first_not_of("0123456789.", at + 2);
    if (end == name.npos || end == at + 2 || name[end] != 'b') continue;
    if (end + 1 == name.size() || name[end + 1] == '-')
      return name.substr(0, at) + name.substr(end + 1);
  }
  return name;
}

bool is_scheme(std::string_view name) {
  return std::ranges::any_of(
      model::schemes(), [&](const model::Scheme& row) { return lower(row.name) == lower(name); });
}

/// Takes the quantisation off "org/name:Q4_K_M", "qwen3-8b:q4_k_m" and "qwen3:8b-q4_k_m". ollama's
/// files of weights trained for quantisation ("gemma3:27b-it-qat") are q4_0.
std::string tag_of(std::string_view& text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view tag = text.substr(colon + 1);
  if (text.substr(0, colon).find('/') != std::string_view::npos || is_scheme(tag)) {
    text = text.substr(0, colon);
    return std::string(tag);
  }
  if (tag.ends_with("-qat")) return "q4_0";
  const auto dash = tag.rfind("-q");
  if (dash == std::string_view::npos || dash + 2 >= tag.size() || !is_digit(tag[dash + 2]))
    return {};
  text = text.substr(0, colon + 1 + dash);
  return std::string(tag.substr(dash + 1));
}

std::string scheme_of_tag(std::string_view text, const std::string& tag) try {
  return tag.empty() ? tag : std::string(model::scheme(tag).name);
} catch (const UnknownName&) {
  throw UnknownName(
      fmt::format("{}: '{}' is not a known scheme; if types were chosen tensor by tensor, only the "
                  "file's header has them: give the .gguf file, or a plain tag such as :Q4_K_M",
                  text, tag));
}

/// "qwen" of "Qwen/Qwen3-8B"; empty where the name has no owner.
std::string owner_of(std::string_view name) {
  const auto slash = name.find('/');
  return slash == std::string_view::npos ? std::string() : lower(name.substr(0, slash));
}

/// "unsloth/Qwen3-8B-GGUF" of a page of the hub; nothing for addresses of other sites, or with a
/// user or a query, which may be secret.
std::optional<std::string_view> without_site(std::string_view text) {
  const auto skip = [&](std::string_view start) {
    const bool found = text.starts_with(start);
    if (found) text.remove_prefix(start.size());
    return found;
  };
  const bool address = skip("https://") || skip("http://");
  skip("www.");
  const bool known = skip("huggingface.co/") || skip("hf.co/") || skip("ollama.com/library/");
  if ((address && !known) || (known && text.find_first_of("@?#") != text.npos)) return std::nullopt;
  if (const auto tree = text.find("/tree/"); tree != text.npos) text = text.substr(0, tree);
  return text.ends_with('/') ? text.substr(0, text.size() - 1) : text;
}

/// Models of the catalogue by how near their names are to the name that is asked for.
struct Candidates {
  std::vector<std::string> converted, equal, same, alike;  // best first

  const std::vector<std::string>& best() const {
    return !converted.empty() ? converted : !equal.empty() ? equal : !same.empty() ? same : alike;
  }
};

/// A name in parts.
struct Asked {
  std::string owner, name;  ///< `name` as spelled()
  std::string wanted;       ///< without endings
  std::string scheme;       ///< said by the endings
  bool anyone;              ///< the owner need not be the model's
};

/// `short_of`: what the catalogue's names are shortened by.
Candidates candidates(const Asked& asked, std::string (*short_of)(const std::string&)) {
  Candidates found;
  for (const std::string& each : catalogue_models(Need::counts)) {
    std::string own;
    const std::string all = spelled(each), owner = owner_of(each);
    if (short_of(without_endings(all, owner, own)) != asked.wanted) continue;
    if (!asked.anyone && owner != asked.owner) continue;
    if (own.empty())
      (all == asked.name     ? found.equal
       : all == asked.wanted ? found.same
                             : found.alike)
          .push_back(each);
    else if (own == asked.scheme)
      found.converted.push_back(each);
  }
  return found;
}

/// The model that ollama's library has under this name; empty: none.
std::string_view library_model(std::string_view wanted) {
  for (const LibraryName& each : library_names)
    if (spelled(each.name) == wanted) return each.model;
  return {};
}

/// "Qwen/Qwen3-32B" of "bartowski/Qwen_Qwen3-32B"; empty where no owner stands before the name.
std::string named_with_owner(std::string_view name) {
  const auto start = name.rfind('/') + 1, end = name.find('_', start);
  if (start == 0 || end == name.npos) return {};
  std::string inner(name.substr(start));
  inner[end - start] = '/';
  return inner;
}

}  // namespace

std::optional<TypedName> typed_name(std::string_view text) {
  const auto page = without_site(text);
  if (!page) return std::nullopt;
  std::string_view name = *page;
  const std::string tag = tag_of(name);
  Asked asked{
      .owner = owner_of(name), .name = spelled(name), .wanted = {}, .scheme = {}, .anyone = true};
  asked.wanted = without_endings(asked.name, asked.owner, asked.scheme);
  asked.anyone = asked.owner.empty() || !tag.empty() || asked.wanted != asked.name;
  Candidates found = candidates(asked, [](const std::string& each) { return each; });
  if (asked.owner.empty()) {
    if (found.best().empty()) found = candidates(asked, without_active);
    if (const auto model = library_model(asked.wanted); !model.empty())
      found = {.converted = {}, .equal = {std::string(model)}, .same = {}, .alike = {}};
  }
  const std::vector<std::string>& models = found.best();
  if (models.empty()) {
    const std::string inner = named_with_owner(name);
    return inner.empty() ? std::nullopt : typed_name(tag.empty() ? inner : inner + ':' + tag);
  }
  if (models.size() > 1)
    throw UnknownName(fmt::format("model '{}' is ambiguous: {}", text, fmt::join(models, ", ")));
  TypedName typed{.model = models.front(), .scheme = {}};
  if (found.converted.empty()) typed.scheme = asked.scheme;  // else the checkpoint's own
  if (const std::string scheme = scheme_of_tag(text, tag); !scheme.empty()) typed.scheme = scheme;
  return typed;
}

}  // namespace headroom::sweep
