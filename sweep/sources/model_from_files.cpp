#include "sweep/sources/model_from_files.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "model/checkpoint_methods.hpp"
#include "model/gguf/config.hpp"
#include "model/gguf/names.hpp"
#include "sweep/sources/checkpoint_files.hpp"

namespace headroom::sweep {
namespace {

using model::Detail;
using model::Model;

constexpr const char* config_name = "config.json";
/// As many bytes as model::parse_config accepts.
constexpr Size most_config = Size{32} << 20;

/// ModelOpt writes how it quantised beside the config, and not always into it too (vLLM
/// quantization/modelopt.py, get_config_filenames; Model-Optimizer torch/export).
constexpr const char* recipe_name = "hf_quant_config.json";

/// `config` with the recipe beside it as its quantization_config, where it has none of its own.
model::Config with_recipe(const ModelFiles& files, model::Config config) {
  if (model::states_quantisation(config) || !files.has(recipe_name)) return config;
  const std::string origin = files.origin(recipe_name);
  const auto recipe = model::parse_config(files.read(recipe_name, most_config), origin);
  if (!recipe.section("quantization").has("quant_algo")) return config;  // of the KV cache alone
  boost::json::object all = config.object();
  boost::json::object section = recipe.section("quantization").object();
  section.emplace("quant_method", "modelopt");
  all["quantization_config"] = std::move(section);
  return {std::move(all), fmt::format("{} and {}", config.origin(), recipe_name)};
}

Model from_config_file(const ModelFiles& files, const std::string& file, FileRequest request) {
  auto config = model::parse_config(files.read(file, most_config), files.origin(file));
  if (file == config_name) config = with_recipe(files, std::move(config));
  request.source = config.origin();
  return model_from_config(config, request);
}

/// "LlamaForCausalLM" as the config has it, whether or not it is described.
std::string architecture_of(const ModelFiles& files) {
  const auto config =
      model::parse_config(files.read(config_name, most_config), files.origin(config_name));
  const auto names = config.texts({"architectures"});
  return names.empty() ? config.text({"model_type"}, "unknown") : names.front();
}

/// Only headers: no config describes the tensors, for the reason `why`.
Model from_headers(const ModelFiles& files, const std::string& file, const FileRequest& request,
                   std::string architecture, std::string why) {
  if (!request.overrides.empty())
    throw model::ConfigError(
        fmt::format("{}: overrides change a config, and no config describes "
                    "this model: {}",
                    files.origin(file), why));
  Headers headers = read_headers(files, file);
  return model::undescribed_model(request.name, std::move(architecture), std::move(headers.list),
                                  headers.detail, std::move(headers.source), std::move(why));
}

/// Config and headers of a checkpoint other than GGUF.
Model from_checkpoint(const ModelFiles& files, const std::string& file,
                      const FileRequest& request) {
  if (!files.has(config_name))
    return from_headers(files, file, request, "unknown",
                        fmt::format("there is no {}", files.origin(config_name)));
  Model model;
  try {
    model = from_config_file(files, config_name, request);
  } catch (const model::NotDescribed& reason) {
    return from_headers(files, file, request, architecture_of(files), reason.what());
  }
  if (!request.overrides.empty()) return model;
  Headers headers = read_headers(files, file);
  model.source += ", " + headers.source;
  model::attach(model, std::move(headers.list), headers.detail);
  return model;
}

Model from_gguf(const ModelFiles& files, const std::string& file, const FileRequest& request) {
  Headers headers = read_headers(files, file);
  const model::GgufScheme scheme = model::gguf_scheme(*headers.gguf, headers.list);
  std::optional<model::Config> config;
  try {
    config = model::gguf_config(*headers.gguf, headers.list);
  } catch (const model::NotDescribed& reason) {
    if (!request.overrides.empty()) throw;
    return model::undescribed_model(request.name, headers.gguf->text("general.architecture"),
                                    std::move(headers.list), headers.detail,
                                    std::move(headers.source), reason.what());
  }
  FileRequest named = request;
  named.source = headers.source;
  Model model = model_from_config(*config, named);
  model.checkpoint_scheme = scheme.name;
  model.part = model::as_gguf(std::move(model.part), *headers.gguf);
  model.profile = model::profile_of(model.part, model.shape.hidden_size);
  if (!scheme.said)
    headers.list.notes.push_back(fmt::format(
        "the file says no type of its own; named after the one of most bytes: {}", scheme.name));
  if (!request.overrides.empty()) return model;
  auto gathered = model::gather_gguf(model.part, headers.list);
  model::attach(model, std::move(headers.list), std::move(gathered));
  return model;
}

}  // namespace

std::optional<Model> model_from_files(const ModelFiles& files, const FileRequest& request) {
  const FileKind kind = kind_of(request.file);
  if (!request.file.empty() && (kind == FileKind::config || kind == FileKind::unknown))
    return from_config_file(files, request.file, request);
  const bool config_first = request.file.empty() && request.headers == ReadHeaders::when_needed;
  if (config_first && files.has(config_name)) try {
      return from_config_file(files, config_name, request);
    } catch (const model::NotDescribed&) {  // its headers still say how much it is
    }
  const auto file =
      request.file.empty() ? checkpoint_file(files) : std::optional<std::string>(request.file);
  if (!file) {
    if (!files.has(config_name)) return std::nullopt;
    return from_config_file(files, config_name, request);
  }
  return kind_of(*file) == FileKind::gguf ? from_gguf(files, *file, request)
                                          : from_checkpoint(files, *file, request);
}

}  // namespace headroom::sweep
