// What a config says of the precision its checkpoint is held in: the scheme, and what departs from
// it.
#pragma once

#include <boost/regex.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::model {

class Config;

/// Modules held by another scheme than the checkpoint's main one.
struct CheckpointGroup {
  std::string scheme;
  std::vector<std::string> targets;  ///< module patterns, as in CheckpointDetails::ignored
};

/// Exceptions that a quantisation_config lists by module. A pattern is a module path, a path's
/// beginning or end at a dot, a wildcard ("model.layers.*.self_attn", "lm_head*"), or a regular
/// expression after "re:".
struct CheckpointDetails {
  std::vector<std::string> ignored;     ///< left in 16 bit
  std::vector<CheckpointGroup> groups;  ///< first match wins; the rest is by the main scheme
  bool stated = false;                  ///< the config says a quantisation or a type at all
};

/// The scheme (a name of schemes()) that the checkpoint of `config` is held in: its
/// `quantization_config`, else `torch_dtype` or `dtype`, else fp32. Throws ConfigError naming the
/// key, what was found and the methods known.
std::string checkpoint_scheme(const Config& config);
/// The exceptions to it. Throws ConfigError where one cannot be understood.
CheckpointDetails checkpoint_details(const Config& config);

/// A list of patterns, compiled. Throws ConfigError for a regular expression that is none.
class ModuleNames {
 public:
  explicit ModuleNames(const std::vector<std::string>& patterns);
  bool contain(std::string_view path) const;
  /// Whether a pattern names something below `path`: checkpoints list experts one by one that are
  /// one tensor in memory.
  bool contain_expert_of(std::string_view path) const;

 private:
  std::vector<std::string> plain_;
  std::vector<boost::regex> expressions_;
};

}  // namespace headroom::model
