#include "sweep/sources/custom_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>

#include "hardware/names.hpp"
#include "hardware/toml_row.hpp"
#include "model/describe/config.hpp"
#include "sweep/options/flags.hpp"
#include "sweep/sources/custom_model.hpp"
#include "sweep/sources/model_files.hpp"

namespace headroom::sweep {
namespace {

using model::ConfigError;

/// A value as a flag would have it: lists with commas.
std::string value_text(const toml::node& node, std::string_view where) {
  if (const auto* list = node.as_array()) {
    std::string all;
    for (const auto& each : *list) all += (all.empty() ? "" : ",") + value_text(each, where);
    return all;
  }
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  throw ConfigError(fmt::format("{}: expected a number, a text or a list", where));
}

/// Usual keys of training scripts that bear on no memory and no speed: left to the script.
constexpr std::string_view left_to_training[] = {"adam_beta1",
                                                 "adam_beta2",
                                                 "adam_epsilon",
                                                 "beta1",
                                                 "beta2",
                                                 "data_path",
                                                 "dataset",
                                                 "decay_lr",
                                                 "device",
                                                 "dropout",
                                                 "epochs",
                                                 "eval_every",
                                                 "eval_interval",
                                                 "eval_iters",
                                                 "eval_steps",
                                                 "grad_clip",
                                                 "learning_rate",
                                                 "log_every",
                                                 "log_interval",
                                                 "logging_steps",
                                                 "lr",
                                                 "lr_scheduler",
                                                 "lr_scheduler_type",
                                                 "max_grad_norm",
                                                 "max_iters",
                                                 "max_lr",
                                                 "max_steps",
                                                 "min_lr",
                                                 "num_epochs",
                                                 "num_train_epochs",
                                                 "num_workers",
                                                 "output_dir",
                                                 "resume",
                                                 "save_every",
                                                 "save_interval",
                                                 "save_steps",
                                                 "seed",
                                                 "steps",
                                                 "tokenizer",
                                                 "tokenizer_path",
                                                 "warmup_iters",
                                                 "warmup_ratio",
                                                 "weight_decay"};

class TomlReader {
 public:
  TomlReader(std::string_view toml, const std::string& file)
      : name(std::filesystem::path(file).stem().string()), file_(file) {
    const auto root = parse_toml(toml, file);
    for (const auto& [key, node] : root) {
      if (!node.is_table()) {
        take(key, node, InTable::no);
      } else if (key == "model") {
        for (const auto& [inner, value] : *node.as_table()) take(inner, value, InTable::yes);
      } else if (key != "training") {
        unknown(key, {"model", "training"});
      }
    }
  }
  std::string name;
  CustomKeys keys;

 private:
  enum class InTable : bool { no, yes };

  std::string where(const toml::key& key) const {
    return fmt::format("{}:{}", file_, key.source().begin.line);
  }
  [[noreturn]] void unknown(const toml::key& key, const std::vector<std::string>& known) const {
    throw ConfigError(
        fmt::format("{}: {}", where(key), unknown_name("key", key.str(), known).what()));
  }

  void take(const toml::key& key, const toml::node& node, InTable in_table) {
    const std::string here = fmt::format("{}: key '{}'", where(key), key.str());
    const std::string flag = custom_flag(key.str());
    if (flag.empty() && key != "name") return leave(key, here, in_table);
    const std::string value = value_text(node, here);
    if (key == "name")
      name = value;
    else if (const auto [at, fresh] = keys.emplace(flag, CustomValue{value, here}); !fresh)
      throw ConfigError(fmt::format("{} says the same as {}", here, at->second.where));
  }

  /// A key that does not describe a model: another flag's, or training's.
  void leave(const toml::key& key, const std::string& here, InTable in_table) const {
    std::string spelling = "--" + std::string(key.str());
    std::ranges::replace(spelling, '_', '-');
    const bool known = find_spelling(spelling).flag ||
                       std::ranges::find(left_to_training, key.str()) != std::end(left_to_training);
    if (known && in_table == InTable::no) return;
    if (known) throw ConfigError(here + " describes no model: it belongs to [training]");
    auto names = custom_spellings();
    if (in_table == InTable::no) {
      names.insert(names.end(), std::begin(left_to_training), std::end(left_to_training));
      for (const auto& each : spellings())
        if (each.starts_with("--")) names.push_back(each.substr(2));
      for (auto& each : names) std::ranges::replace(each, '-', '_');
    }
    unknown(key, names);
  }

  const std::string& file_;
};

/// Overrides replace keys of the file.
void add_overrides(const ModelReference& reference, bool from_flags, CustomKeys& keys) {
  CustomKeys added;
  for (const auto& [key, value] : reference.overrides) {
    const std::string flag = custom_flag(key);
    if (flag.empty()) throw unknown_name("key of a custom model", key, custom_spellings());
    const std::string where =
        from_flags ? "--" + flag : fmt::format("{}: override '{}'", reference.name, key);
    if (!added.emplace(flag, CustomValue{value, where}).second)
      throw std::invalid_argument(where + " is given twice");
  }
  added.merge(keys);
  keys = std::move(added);
}

model::Model made(std::string name, const ModelReference& reference, const CustomKeys& keys,
                  std::string source) {
  if (!reference.overrides.empty()) name += '?';
  for (const auto& [key, value] : reference.overrides)
    name += fmt::format("{}{}={}", name.ends_with('?') ? "" : "&", key, value);
  const auto description = custom_decoder(keys);
  auto model = model::make_model(std::move(name), description.decoder, std::move(source));
  model.assumed = description.assumed;
  return model;
}

class CustomSource : public ModelSource {
 public:
  std::optional<model::Model> find(const ModelReference& reference) const override {
    if (reference.name == "custom" && !reference.overrides.empty()) {
      CustomKeys keys;
      add_overrides(reference, true, keys);
      return made("custom", reference, keys, "described by its sizes");
    }
    if (!reference.name.ends_with(".toml")) return std::nullopt;
    constexpr Size most = Size{1} << 20;
    const std::filesystem::path path = reference.name;
    const auto files = folder_files(path.parent_path());
    const std::string file = path.filename().string();
    if (!files->has(file)) throw std::runtime_error(reference.name + ": no such file");
    const std::string text = files->read(file, most);
    if (static_cast<Size>(text.size()) > most)
      throw ConfigError(reference.name + ": larger than 1 MiB, which no description is");
    return model_from_toml(text, reference.name, reference);
  }
};

}  // namespace

model::Model model_from_toml(std::string_view toml, const std::string& file,
                             const ModelReference& reference) {
  TomlReader read(toml, file);
  try {
    add_overrides(reference, false, read.keys);
    return made(read.name, reference, read.keys, file);
  } catch (const std::invalid_argument& e) {
    const std::string what = e.what();
    throw ConfigError(what.starts_with(file) ? what : file + ": " + what);
  } catch (const std::length_error& e) {
    throw ConfigError(file + ": " + e.what());
  } catch (const std::overflow_error& e) {
    throw ConfigError(file + ": " + e.what());
  }
}

std::unique_ptr<ModelSource> custom_source() { return std::make_unique<CustomSource>(); }

}  // namespace headroom::sweep
