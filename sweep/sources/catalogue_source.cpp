// The models inside the program, by their names, short names and classes.
#include <fmt/format.h>

#include <algorithm>

#include "hardware/embedded.hpp"
#include "hardware/names.hpp"
#include "hardware/sorted_table.hpp"
#include "hardware/text.hpp"
#include "model/describe/architecture.hpp"
#include "sweep/sources/catalogue_facts.hpp"
#include "sweep/sources/model_from_files.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

/// Sorted by name.
constexpr ShortName short_table[] = {
    {"llama-3.1-405b", "meta-llama/Meta-Llama-3.1-405B"},
    {"llama-3.1-70b", "meta-llama/Meta-Llama-3.1-70B"},
    {"llama2-13b", "meta-llama/Llama-2-13b-hf"},
    {"llama2-70b", "meta-llama/Llama-2-70b-hf"},
    {"llama2-7b", "meta-llama/Llama-2-7b-hf"},
    {"llama3-70b", "meta-llama/Meta-Llama-3-70B"},
    {"llama3-8b", "meta-llama/Meta-Llama-3-8B"},
    {"llama3.1-405b", "meta-llama/Meta-Llama-3.1-405B"},
    {"llama3.1-70b", "meta-llama/Meta-Llama-3.1-70B"},
    {"llama3.1-8b", "meta-llama/Meta-Llama-3.1-8B"},
    {"llama3.2-1b", "meta-llama/Llama-3.2-1B"},
    {"llama3.2-3b", "meta-llama/Llama-3.2-3B"},
    {"llama3.3-70b", "meta-llama/Llama-3.3-70B-Instruct"},
    {"meta-llama/llama-3.1-405b", "meta-llama/Meta-Llama-3.1-405B"},
    {"meta-llama/llama-3.1-70b", "meta-llama/Meta-Llama-3.1-70B"},
    {"mistral-7b", "mistralai/Mistral-7B-v0.1"},
    {"mixtral-8x7b", "mistralai/Mixtral-8x7B-v0.1"},
};
static_assert(std::ranges::is_sorted(short_table, {}, &ShortName::name));

bool is_config(const EmbeddedFile& file) { return file.name.ends_with(".json"); }

/// True for heads, which are only counted. The first class that a config names decides.
bool is_counted_only(const EmbeddedFile& file) {
  constexpr std::string_view key = "\"architectures\"";
  const std::size_t at = file.bytes.find(key);
  if (at == std::string_view::npos) return false;
  const std::size_t start = file.bytes.find('"', at + key.size());
  const std::size_t end = file.bytes.find('"', start + 1);
  if (end == std::string_view::npos) return false;
  return !model::counted_only(file.bytes.substr(start + 1, end - start - 1), {}).empty();
}

/// Files of the catalogue that a name stands for: a short name, or a model's with or without its
/// owner.
std::vector<std::string_view> catalogue_files(const std::string& asked) {
  static const SortedTable table(embedded_models().content("model_names.tsv"));
  std::string name = lower(asked);
  const auto row = std::ranges::lower_bound(short_table, name, {}, &ShortName::name);
  if (row != std::end(short_table) && row->name == name) name = lower(row->model);
  std::vector<std::string_view> files;
  std::string_view rows = table.rows(name + '\t');
  while (!rows.empty()) files.push_back(take_line(rows).substr(name.size() + 1));
  return files;
}

class CatalogueSource : public ModelSource {
 public:
  std::optional<model::Model> find(const ModelReference& reference) const override {
    const std::vector<std::string_view> found = catalogue_files(reference.name);
    if (found.empty()) return std::nullopt;
    if (found.size() > 1) {
      std::vector<std::string> names;
      for (const auto file : found) names.push_back(model_name(file));
      throw UnknownName(
          fmt::format("model '{}' is ambiguous: {}", reference.name, fmt::join(names, ", ")));
    }
    const std::string name = model_name(found.front());
    FileRequest request{name, origin_of(found.front())};
    request.overrides = reference.overrides;
    auto model = model_from_config(
        model::parse_config(embedded_models().content(found.front()), name), request);
    set_use(model, use_of(found.front()), "its publisher");
    return model;
  }
};

}  // namespace

std::string model_name(std::string_view file) {
  if (file.ends_with(".json")) file.remove_suffix(5);
  const auto gap = file.find("__");
  if (gap == std::string_view::npos) return std::string(file);
  return std::string(file.substr(0, gap)) + '/' + std::string(file.substr(gap + 2));
}

std::unique_ptr<ModelSource> catalogue_source() { return std::make_unique<CatalogueSource>(); }

bool in_catalogue(std::string_view text) {
  return catalogue_files(parse_reference(text).name).size() == 1;
}

bool names_model(std::string_view text) {
  if (text.find('/') != std::string_view::npos) return true;
  try {
    return catalogue_source()->find(parse_reference(text)).has_value();
  } catch (const std::exception&) {
    return false;
  }
}

std::vector<std::string> catalogue_models(Need need) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_models())
    if (is_config(file) && (need == Need::counts || !is_counted_only(file)))
      names.push_back(model_name(file.name));
  std::ranges::sort(names);
  return names;
}

std::vector<model::Model> catalogue_models_of(std::string_view architecture,
                                              const std::function<bool(std::string_view)>& named) {
  std::vector<model::Model> models;
  for (const EmbeddedFile& file : embedded_models()) {
    const std::string name = model_name(file.name);
    if (!is_config(file) || !named(name)) continue;
    const model::Config config = model::parse_config(file.bytes, name);
    if (model::described_class(config) == architecture)
      models.push_back(model_from_config(config, {name, origin_of(file.name)}));
  }
  std::ranges::sort(models, {}, &model::Model::name);
  return models;
}

std::span<const ShortName> short_names() { return short_table; }

}  // namespace headroom::sweep
