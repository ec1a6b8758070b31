#include "sweep/training/settings_file.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>

#include "hardware/text_file.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {
namespace {

class Flat {
 public:
  /// Throws YAML::Exception where aliases make more text than a configuration has.
  Flat(const YAML::Node& root, const std::string& file) : file_(file) { add(root, ""); }
  std::vector<Setting> all;

 private:
  void add(const YAML::Node& node, const std::string& path) {
    take(node, path.size());
    if (node.IsMap()) {
      for (const auto& item : node) {
        const std::string key = item.first.as<std::string>();
        add(item.second, path.empty() ? key : path + '.' + key);
      }
    } else if (node.IsSequence()) {
      std::string joined;
      for (const auto& item : node)
        if (item.IsScalar()) joined += (joined.empty() ? "" : ",") + text(item);
      all.push_back({path, joined, file_});
    } else if (node.IsScalar()) {
      all.push_back({path, text(node), file_});
    }
  }
  std::string text(const YAML::Node& node) {
    take(node, node.Scalar().size());
    return node.Scalar();
  }
  void take(const YAML::Node& node, std::size_t characters) {
    if (characters >= left_)
      throw YAML::Exception(node.Mark(), "more than 1 MiB of keys and values, aliases included");
    left_ -= characters + 1;
  }
  std::string file_;
  std::size_t left_ = std::size_t{1} << 20;
};

}  // namespace

std::vector<Setting> read_settings(const std::string& file) {
  std::string text;
  try {
    text = read_text_file(
        file, "settings of Trainer, TRL, DeepSpeed, LLaMA-Factory, axolotl or accelerate");
  } catch (const std::runtime_error& e) {
    throw UsageError(fmt::format("--from {}", e.what()));
  }
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) throw UsageError(fmt::format("{}: expected keys and values", file));
    return Flat(root, file).all;
  } catch (const YAML::Exception& e) {
    throw UsageError(fmt::format("{}:{}: {}", file, e.mark.line + 1, e.msg));
  }
}

std::string file_named_by(const Setting& setting) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::exists(setting.value, error)) return setting.value;
  const fs::path beside = fs::path(setting.file).parent_path() / setting.value;
  if (fs::exists(beside, error)) return beside.string();
  throw UsageError(
      fmt::format("{}: key '{}': found no file '{}', neither from the working directory nor at {}",
                  setting.file, setting.key, setting.value, beside.string()));
}

}  // namespace headroom::sweep
