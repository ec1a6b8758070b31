// Keys and tensors of a GGUF file, asked for in the file's own words, and the config that they are
// being turned into.
#pragma once

#include <boost/json.hpp>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/checkpoint/formats/gguf.hpp"

namespace headroom::model {

class GgufKeys {
 public:
  GgufKeys(const GgufHeader& header, const TensorList& tensors);

  const std::string& architecture() const { return architecture_; }  ///< "qwen3moe"
  /// Layers that a token passes, those for predicting further tokens left out.
  Size layers() const { return layers_; }

  /// Keys are named without the architecture before them: "attention.head_count".
  bool has(std::string_view key) const;
  /// A whole number from 0 to 2^30; of a list, its largest. Throws FormatError that names the file
  /// and the key where it is missing or something else.
  Size number(std::string_view key) const;
  Size number(std::string_view key, Size fallback) const;
  /// The value for each layer: a list as it is, a number for all of them alike. Empty where absent.
  std::vector<Size> by_layer(std::string_view key) const;

  bool has_tensor(std::string_view name) const { return tensor(name) != nullptr; }
  /// Whether layer `i` has a tensor of that name behind "blk.N.".
  bool layer_has(Size i, std::string_view name) const;
  /// Whether any layer has one.
  bool some_layer_has(std::string_view name) const;
  Size rows(std::string_view name) const;     ///< 0 where there is no such tensor
  Size columns(std::string_view name) const;  ///< likewise

  /// Sets keys of the config; a dot leads into a section.
  template <class T>
  void set(std::string_view key, const T& value) {
    store(key, boost::json::value_from(value));
  }
  template <class T>
  void set(std::initializer_list<std::string_view> keys, const T& value) {
    for (const auto key : keys) set(key, value);
  }
  void erase(std::string_view key) { config_.erase(key); }
  const boost::json::object& config() const { return config_; }

 private:
  const TensorHeader* tensor(std::string_view name) const;
  std::string full(std::string_view key) const { return architecture_ + '.' + std::string(key); }
  void store(std::string_view key, boost::json::value value);
  Size checked(std::int64_t value, const std::string& key) const;

  const GgufHeader& header_;
  std::string origin_, architecture_;
  std::unordered_map<std::string_view, const TensorHeader*> tensors_;
  Size layers_ = 0;
  boost::json::object config_;
};

/// One architecture of llama.cpp, and the class of transformers that describes the same tensors.
struct GgufArchitecture {
  std::string_view name;        ///< general.architecture
  std::string_view class_name;  ///< "Qwen3ForCausalLM"
  std::string_view model_type;  ///< "qwen3"
  bool (*is)(const GgufKeys&);  ///< which of several rows of one name; null: always
  void (*more)(GgufKeys&);      ///< config keys beyond the common ones; null: none
  std::string_view without{};   ///< a module of the class that llama.cpp leaves out
};
std::span<const GgufArchitecture> gguf_architectures();

}  // namespace headroom::model
