// The precision of a checkpoint according to its config: the scheme and its exceptions.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/stated_cache.hpp"

namespace headroom::model {

class Config;

/// Modules stored by a scheme other than the checkpoint's main one.
struct CheckpointGroup {
  std::string scheme;
  std::vector<std::string> targets;  ///< module patterns, as in CheckpointDetails::ignored
  bool embeddings = false;           ///< holds tables of rows that match, too
};

/// Exceptions that a quantisation_config lists by module. A pattern is a module path, the start or
/// end of a path at a dot, a wildcard ("model.layers.*.self_attn", "lm_head*"), or a regular
/// expression after "re:". After "is:" stands a whole path, after "end:" how one ends, after
/// "part:" any part of one. Lists may be long: these three cost nothing for each entry.
struct CheckpointDetails {
  std::vector<std::string> ignored;     ///< stay in 16 bit
  std::vector<CheckpointGroup> groups;  ///< first match wins; other modules use the main scheme
  std::string method;                   ///< `quant_method`; empty: not quantised
  /// ModelOpt's config lacks the lists of modules that stay in 16 bit, which its tool always
  /// writes.
  bool lacks_lists = false;
  bool stated = false;  ///< the config states a quantisation or a type
  StatedCache cache;    ///< the format of its KV cache
};

/// The scheme of the checkpoint (a name of schemes()): from `quantization_config`, else
/// `torch_dtype` or `dtype`, else fp32. Throws ConfigError naming the key, what was found and the
/// known methods.
std::string checkpoint_scheme(const Config& config);
/// The exceptions to the scheme. Throws ConfigError for one that is not understood.
CheckpointDetails checkpoint_details(const Config& config);

/// A compiled list of patterns. Throws ConfigError for an invalid regular expression. A question
/// takes as long for a list of plain names as for one of them.
class ModuleNames {
 public:
  explicit ModuleNames(std::vector<std::string> patterns);
  bool contain(std::string_view path) const;
  /// True if a pattern names something below `path`. Checkpoints list experts one by one; in memory
  /// they are one tensor.
  bool contain_expert_of(std::string_view path) const;

 private:
  struct Compiled;  // in the source file: the regex header is large
  std::shared_ptr<const Compiled> compiled_;
};

/// Throws ConfigError for an invalid regular expression among `patterns`.
void check_module_names(const std::vector<std::string>& patterns);

}  // namespace headroom::model
