// Custom models: the keys that describe one, as flags, after "custom?" and in TOML, checked
// together and filled up with defaults that are said.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/custom.hpp"

namespace headroom::sweep {

/// The flags that describe a custom model; everywhere else their names have "_" for "-".
#define HEADROOM_CUSTOM_FLAGS                                                            \
  "hidden-size layers heads kv-heads head-dim intermediate-size vocab-size positions "   \
  "position-embedding norm norm-placement qk-norm feed-forward biases tied-head window " \
  "full-attention-every experts active-experts expert-intermediate-size shared-experts " \
  "dense-layers"

/// A value as it was written, and what errors call its key: "--heads", "my.toml:3: key 'heads'".
struct CustomValue {
  std::string value, where;
};
/// By the canonical flag, without dashes in front: "hidden-size".
using CustomKeys = std::map<std::string, CustomValue, std::less<>>;

/// The canonical flag that a key of any spelling stands for: "hidden_size", "model_embd" and
/// "n_embd" are "hidden-size". Empty where it does not describe a model.
std::string custom_flag(std::string_view key);
/// Every spelling of such a key, with "_", for suggestions.
std::vector<std::string> custom_spellings();

/// A checked decoder, and each value in it that nobody gave: "heads 12 (hidden_size / 64)".
struct CustomDescription {
  model::CustomDecoder decoder;
  std::vector<std::string> assumed;
};

/// Needs hidden-size and layers. Throws std::invalid_argument naming the key: a value that is not
/// allowed, a combination that cannot be, a key that would have no effect.
CustomDescription custom_decoder(const CustomKeys& keys);

}  // namespace headroom::sweep
