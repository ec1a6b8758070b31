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
  /// Why its tensors are described but not how they run, so that it is counted and no memory of
  /// running and no time is given; empty for nearly all.
  std::string_view counted_only{};
};

/// All rows, by family.
std::span<const Architecture> architectures();

/// Why a class of that name and type is only counted; empty where how it runs is described too.
std::string_view counted_only(std::string_view name, std::string_view model_type);

/// The Part that `config` describes, its root module included. Throws ConfigError when the
/// architecture is not described: it names it and the nearest ones, and never guesses.
Part describe(const Config& config);

/// Throws std::overflow_error unless every formula may add up all elements of `part` in int64 and
/// multiply by 16 bytes.
void check_size(const Part& part);

}  // namespace headroom::model
