// The names of models in published tables: the embedded names/models.tsv, then the catalogue by
// names without what spellings differ in.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "hardware/embedded.hpp"
#include "hardware/names.hpp"
#include "model/describe/config.hpp"
#include "sweep/accuracy/measurement_names.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

/// What is put behind the name of a model for a fine-tune of the same shapes, or for the way in
/// which its weights are held, which is a column of its own.
constexpr auto endings = std::to_array<std::string_view>(
    {"instruct", "chat",     "it",       "hf",         "base",  "awq",   "gptq", "int4", "int8",
     "gptqint4", "gptqint8", "fp8",      "fp8dynamic", "nvfp4", "mxfp4", "bf16", "fp16", "gguf",
     "4bit",     "8bit",     "finetune", "class",      "2506",  "2507",  "0324", "0528"});

/// `plain` without one of the endings; itself where it has none.
std::string shorter(const std::string& plain) {
  std::string_view longest;
  for (const std::string_view ending : endings)
    if (plain.ends_with(ending) && plain.size() > ending.size() && ending.size() > longest.size())
      longest = ending;
  return plain.substr(0, plain.size() - longest.size());
}

/// Names as they stand in the file's first column → reference.
const std::map<std::string, std::string>& published_names() {
  static const auto names = [] {
    std::map<std::string, std::string> all;
    for (const EmbeddedFile& file : embedded_names()) {
      std::string_view rest = file.bytes.substr(file.bytes.find('\n') + 1);
      while (!rest.empty()) {
        const auto end = std::min(rest.find('\n'), rest.size());
        const auto line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const auto tab = line.find('\t');
        const auto next = line.find('\t', tab + 1);
        if (next != std::string_view::npos)
          all.emplace(plain_name(line.substr(0, tab)), line.substr(tab + 1, next - tab - 1));
      }
    }
    return all;
  }();
  return names;
}

const std::map<std::string, std::string>& catalogue_names() {
  static const auto names = [] {
    std::map<std::string, std::string> all;
    const std::vector<std::string> models = catalogue_models();
    for (const std::string& name : models) all.emplace(plain_name(name), name);
    // "Llama-2-7b-hf" is what "Llama-2-7B" means where no model is called so.
    for (const std::string& name : models) {
      std::string plain = plain_name(name);
      for (std::string last; plain != last; all.emplace(plain, name))
        last = std::exchange(plain, shorter(plain));
    }
    return all;
  }();
  return names;
}

}  // namespace

std::string plain_name(std::string_view name) {
  if (const auto slash = name.find('/'); slash != std::string_view::npos)
    if (name.find(' ') == std::string_view::npos && name.find('/', slash + 1) == name.npos &&
        std::ranges::none_of(name.substr(0, slash), [](char c) { return c >= '0' && c <= '9'; }))
      name.remove_prefix(slash + 1);
  std::string plain;
  for (const char c : lower(name))
    if (std::string_view("-_ ").find(c) == std::string_view::npos) plain += c;
  if (plain.starts_with("metallama")) plain.erase(0, 4);
  return plain;
}

ModelNames::ModelNames(const std::string& folder) {
  namespace fs = std::filesystem;
  if (folder.empty()) return;
  if (!fs::is_directory(folder)) throw std::runtime_error(folder + ": not a folder of configs");
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (entry.is_directory() ? !fs::exists(entry.path() / "config.json") : !name.ends_with(".json"))
      continue;
    if (name.ends_with(".json")) name.resize(name.size() - 5);
    if (const auto gap = name.find("__"); gap != std::string::npos) name.erase(0, gap + 2);
    files_[plain_name(name)] = entry.path().string();
  }
}

std::string ModelNames::reference_of(const std::string& name) const {
  std::string bare = name;  // "Qwen3.5-35B-A3B (MoE)"
  if (const auto remark = bare.find(" ("); remark != std::string::npos) bare.resize(remark);
  for (std::string plain : {plain_name(name), plain_name(bare)})
    for (std::string last; plain != last;) {
      for (const auto* names : {&files_, &published_names(), &catalogue_names()})
        if (const auto it = names->find(plain); it != names->end()) return it->second;
      last = std::exchange(plain, shorter(plain));
    }
  // "llama3_70b truncated to 12 layers"
  constexpr std::string_view cut = " truncated to ";
  if (const auto at = name.find(cut); at != std::string::npos) {
    const std::string layers = name.substr(at + cut.size());
    if (const auto n = leading_number(layers); n && layers.ends_with(" layers")) {
      const std::string whole = reference_of(name.substr(0, at));
      return fmt::format("{}{}num_hidden_layers={}", whole,
                         whole.find('?') == std::string::npos ? '?' : '&', static_cast<Size>(*n));
    }
  }
  throw Skipped(Skip::model, fmt::format("no config of '{}'", name));
}

const model::Model& ModelNames::model(const std::string& name, const std::string& precision) {
  // A checkpoint that is published in that precision says which parts stay in 16 bit.
  const std::string published = name + "-" + precision, plain = plain_name(published);
  if (!precision.empty() && (files_.contains(plain) || published_names().contains(plain) ||
                             catalogue_names().contains(plain)))
    return model(published);
  return model(name);
}

const model::Model& ModelNames::model(const std::string& name) {
  if (const auto it = models_.find(name); it != models_.end()) return it->second;
  const std::string reference = reference_of(name);
  try {
    return models_.emplace(name, resolve_model(reference)).first->second;
  } catch (const model::ConfigError& e) {
    throw Skipped(Skip::model, e.what());
  }
}

}  // namespace headroom::sweep
