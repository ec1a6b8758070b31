// Access to keys and tensors of a GGUF file by their own names, and the config built from them.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value_from.hpp>
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
  /// Layers that a token passes, without those that predict further tokens.
  Size layers() const { return layers_; }
  /// Layers after them that predict further tokens, if the file has them.
  Size predictors() const { return predictors_; }

  /// Tokens of the file's tokenizer; 0 if it has none.
  Size tokens() const { return header_.number("tokenizer.ggml.tokens", 0); }

  /// Key names omit the architecture: "attention.head_count".
  bool has(std::string_view key) const;
  /// A whole number from 0 to 2^30; of a list, its maximum. Throws FormatError naming file and key
  /// if it is missing or something else.
  Size number(std::string_view key) const;
  Size number(std::string_view key, Size fallback) const;
  /// A value for each layer: the list, or a single number repeated. Empty if absent.
  std::vector<Size> by_layer(std::string_view key) const;

  /// Throws FormatError about `key` in this file: "<origin>: key 'llama.x': <what>".
  [[noreturn]] void fail(std::string_view key, std::string_view what) const;

  bool has_tensor(std::string_view name) const { return tensor(name) != nullptr; }
  /// True if layer `i` has a tensor of that name after "blk.N.".
  bool layer_has(Size i, std::string_view name) const;
  /// True if any layer has one.
  bool some_layer_has(std::string_view name) const;
  Size rows(std::string_view name) const;     ///< 0 if the tensor does not exist
  Size columns(std::string_view name) const;  ///< 0 if the tensor does not exist

  /// Sets a key of the config. A dot separates section and key.
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
  Size layers_ = 0, predictors_ = 0;
  boost::json::object config_;
};

/// An architecture of llama.cpp, and the transformers class that describes the same tensors.
struct GgufArchitecture {
  std::string_view name;        ///< general.architecture
  std::string_view class_name;  ///< "Qwen3ForCausalLM"
  std::string_view model_type;  ///< "qwen3"
  bool (*is)(const GgufKeys&);  ///< selects among rows with the same name; null: always
  void (*more)(GgufKeys&);      ///< sets config keys beyond the common ones; null: none
  std::string_view without{};   ///< modules of the class that llama.cpp omits, "|" between them
  std::string_view by_layer{};  ///< counts of heads that `more` reads layer by layer
  std::string_view with{};      ///< modules that files have and layers of the class may lack
  std::string_view section{};   ///< model_type of the text section, if the class has towers
};
std::span<const GgufArchitecture> gguf_architectures();

}  // namespace headroom::model
