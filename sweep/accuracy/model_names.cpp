#include "sweep/accuracy/model_names.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "hardware/embedded.hpp"
#include "hardware/names.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

/// Endings of names of fine-tunes with the same shapes, and of ways to hold weights.
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
    std::vector<std::string> models = catalogue_models(Need::counts);
    for (const std::string& name : models) all.emplace(plain_name(name), name);
    // "Llama-2-7b-hf" is what "Llama-2-7B" means where no model is called so: the name with the
    // shortest endings, before "Llama-2-7b-chat-hf".
    std::ranges::stable_sort(models, {}, &std::string::size);
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

namespace {

/// Null where neither table has the plain name.
const std::string* known(const std::string& plain) {
  for (const auto* names : {&published_names(), &catalogue_names()})
    if (const auto it = names->find(plain); it != names->end()) return &it->second;
  return nullptr;
}

}  // namespace

std::string model_reference(const std::string& name, const std::string& precision) {
  if (!precision.empty())
    if (const std::string* published = known(plain_name(name + "-" + precision))) return *published;
  std::string plain = plain_name(name);
  for (std::string last; plain != last; last = std::exchange(plain, shorter(plain)))
    if (const std::string* found = known(plain)) return *found;
  return name;
}

}  // namespace headroom::sweep
