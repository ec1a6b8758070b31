// The table of architectures: one row each, found by the config's `architectures` and `model_type`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/describe/config.hpp"
#include "model/describe/part.hpp"

namespace headroom::model {

/// One described architecture. `describe` returns the Part below the root module.
struct Architecture {
  std::string_view name;        ///< class: "LlamaForCausalLM"
  std::string_view model_type;  ///< config key: "llama"
  Part (*describe)(const Config&);
  /// Why only its tensors are described. Such a model is counted, without memory and time of a run.
  /// Empty for nearly all.
  std::string_view counted_only{};
};

/// Why heads that propose tokens for another model are only counted: one token in each pass, or a
/// block of tokens in one pass.
inline constexpr std::string_view proposes_tokens =
    "it proposes tokens for another model, from that model's hidden states";
inline constexpr std::string_view proposes_blocks =
    "it proposes blocks of tokens for another model, from that model's hidden states";

/// All rows, by family.
std::span<const Architecture> architectures();

/// Why a class of that name and type is only counted; empty where its run is described too.
std::string_view counted_only(std::string_view name, std::string_view model_type);

/// The model_type of a described class; empty where there is no such class.
std::string_view described_type(std::string_view name);

/// The name of the row that describes `config`, the class of its root module. Throws as describe()
/// where the architecture is not described.
std::string_view described_class(const Config& config);

/// Words for a config whose class and model_type are both described, each in other rows. Its class
/// counts here, as in vLLM (model_executor/models/registry.py). The Auto classes of transformers go
/// by model_type (models/auto/auto_factory.py), or by an auto_map. Empty: they agree.
std::string class_against_type(const Config& config);

/// The Part of `config` with its root module. Throws ConfigError with the nearest names where the
/// architecture is not described.
Part describe(const Config& config);

/// Throws std::overflow_error unless every formula may add up all elements of `part` in int64 and
/// multiply by 16 bytes.
void check_size(const Part& part);

}  // namespace headroom::model
