#include "sweep/sources/model_from_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "model/checkpoint/checkpoint_methods.hpp"
#include "model/checkpoint/formats/shard_index.hpp"
#include "model/checkpoint/gguf/config.hpp"
#include "model/checkpoint/gguf/names.hpp"
#include "model/describe/head_tie.hpp"
#include "model/describe/tensor_class.hpp"
#include "sweep/sources/catalogue_facts.hpp"
#include "sweep/sources/checkpoint_files.hpp"

namespace headroom::sweep {
namespace {

using model::Model;

constexpr const char* config_name = "config.json";
/// As many bytes as model::parse_config accepts.
constexpr Size max_config = Size{32} << 20;

/// ModelOpt writes its recipe into a file next to the config, and not always into the config (vLLM
/// quantization/modelopt.py, get_config_filenames; Model-Optimizer torch/export).
constexpr const char* recipe_name = "hf_quant_config.json";

/// `config` with the recipe of that file as its quantization_config, if it has none of its own.
model::Config with_recipe(const ModelFiles& files, model::Config config) {
  if (model::states_quantisation(config) || !files.has(recipe_name)) return config;
  const std::string origin = files.origin(recipe_name);
  const auto recipe = model::parse_config(files.read(recipe_name, max_config), origin);
  if (!recipe.section("quantization").has("quant_algo"))
    return config;  // a recipe for the KV
                    // cache only
  boost::json::object all = config.object();
  boost::json::object section = recipe.section("quantization").object();
  section.emplace("quant_method", "modelopt");
  all["quantization_config"] = std::move(section);
  return {std::move(all), fmt::format("{} and {}", config.origin(), recipe_name)};
}

/// True if the checkpoint of a config has a head of its own. The names in its index or the header
/// of its only file tell. Empty if neither is available.
std::optional<bool> has_own_head(const ModelFiles& files) try {
  const auto file = checkpoint_file(files);
  if (!file) return std::nullopt;
  if (kind_of(*file) == FileKind::index) {
    const auto index =
        model::parse_shard_index(files.read(*file, model::max_index), files.origin(*file));
    return std::ranges::any_of(
        index.weight_map, [&](const auto& entry) { return model::is_output_head(entry.first); });
  }
  if (kind_of(*file) != FileKind::safetensors) return std::nullopt;
  return std::ranges::any_of(read_headers(files, *file).list.tensors, [&](const auto& tensor) {
    return model::is_output_head(tensor.name);
  });
} catch (const std::runtime_error&) {
  return std::nullopt;  // who needs the headers says what is wrong with them
}

/// `config` with the tie that its checkpoint shows, where the file leaves it open.
model::Config with_tie_of_checkpoint(const model::Config& config, const ModelFiles& files) {
  if (model::assumed_tie(config).empty()) return config;
  const auto own = has_own_head(files);
  if (!own) return config;
  boost::json::object object = config.object();
  object["tie_word_embeddings"] = !*own;
  return model::Config(std::move(object), config.origin());
}

Model from_config_file(const ModelFiles& files, const std::string& file, FileRequest request) {
  const std::string text = files.read(file, max_config);
  if (static_cast<Size>(text.size()) > max_config)
    throw model::ConfigError(fmt::format("{}: {} bytes, a config.json has at most {}",
                                         files.origin(file), files.open(file).size, max_config));
  auto config = model::parse_config(text, files.origin(file));
  if (file == config_name) config = with_recipe(files, std::move(config));
  request.source = config.origin();
  if (request.file != file && request.overrides.empty())  // else the config stands alone
    config = with_tie_of_checkpoint(config, files);
  return model_from_config(config, request);
}

/// "LlamaForCausalLM" as the config has it, whether or not it is described.
std::string architecture_of(const ModelFiles& files) {
  const auto config =
      model::parse_config(files.read(config_name, max_config), files.origin(config_name));
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
  model.part = model::as_gguf(std::move(model.part), *headers.gguf, headers.list);
  model.profile = model::profile_of(model.part, model.shape.hidden_size);
  if (!scheme.said)
    headers.list.notes.push_back(fmt::format(
        "the file does not name its type; named after the type with most bytes: {}", scheme.name));
  if (!request.overrides.empty()) return model;
  model.unknown_keys.clear();  // written by gguf_config under the names of all classes
  auto gathered = model::gather_gguf(model.part, headers.list);
  model::attach(model, std::move(headers.list), std::move(gathered));
  return model;
}

/// A config.json without a class or a number: repositories of GGUF files have {"model_type":
/// "llama"} so that the hub counts downloads. It says nothing that the headers do not.
bool is_stub(const ModelFiles& files) {
  if (!files.has(config_name)) return false;
  const std::string text = files.read(config_name, max_config);
  if (text.size() > 4096) return false;
  const auto config = model::parse_config(text, files.origin(config_name));
  if (config.has("architectures")) return false;
  return std::ranges::none_of(config.object(), [](const auto& entry) {
    return entry.value().is_number() || entry.value().is_object();
  });
}

/// The files without their config.json.
class WithoutConfig : public ModelFiles {
 public:
  explicit WithoutConfig(const ModelFiles& files) : files_(files) {}
  std::vector<std::string> names() const override {
    auto all = files_.names();
    std::erase(all, config_name);
    return all;
  }
  bool has(std::string_view name) const override { return name != config_name && files_.has(name); }
  std::string origin(std::string_view name) const override { return files_.origin(name); }
  std::string read(const std::string& name, Size most) const override {
    return files_.read(name, most);
  }
  BigFile open(const std::string& name) const override { return files_.open(name); }
  void expect(const std::vector<std::string>& names) const override { files_.expect(names); }

 private:
  const ModelFiles& files_;
};

std::optional<Model> read_model(const ModelFiles& files, const FileRequest& request) {
  if (request.file.empty() && is_stub(files))
    if (const WithoutConfig others(files); checkpoint_file(others))
      return read_model(others, request);
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

}  // namespace

/// sentence-transformers writes modules.json beside the models that it trains (its
/// sentence_transformers/SentenceTransformer.py), and vllm takes it for a pooling model
/// (transformers_utils/config.py get_sentence_transformer_tokenizer_config, get_pooling_config).
std::optional<Model> model_from_files(const ModelFiles& files, const FileRequest& request) {
  auto model = read_model(files, request);
  constexpr std::string_view mark = "modules.json";
  if (model && model->profile.generative && files.has(mark)) set_use(*model, "embedding", mark);
  return model;
}

}  // namespace headroom::sweep
