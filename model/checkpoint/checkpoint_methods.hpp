// Quantisation methods of configs as rows: the scheme of converted tensors, and the modules that
// are exceptions.
#pragma once

#include <boost/json/fwd.hpp>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/checkpoint/checkpoint.hpp"
#include "model/describe/config.hpp"

namespace headroom::model {

/// True if `config` states a quantisation, at the top or in its text model's section.
bool states_quantisation(const Config& config);

/// The method of "fp8" in a config of DeepSeek-V4, as vLLM calls it.
constexpr std::string_view deepseek_v4_fp8 = "deepseek_v4_fp8";

/// The method of Quark's checkpoints with plain integers of 4 bit. vLLM and SGLang have no kernels
/// for them (quark.py, "No quark compatible scheme was found").
constexpr std::string_view quark_int4 = "quark_int4";

/// A target of CheckpointGroup for the output head, whatever its module's name.
constexpr std::string_view output_head = "(output head)";

/// A value of `quant_method`. Both functions read the section `q` of the whole config `file`. They
/// throw ConfigError for a key that changes bytes and is not described.
struct CheckpointMethod {
  std::string_view name;
  std::string (*scheme)(const Config& q, const Config& file);
  /// Fills `ignored` and `groups`; `file` is the whole config.
  void (*exceptions)(const Config& q, const Config& file, CheckpointDetails& details);
};

/// Rows of known methods in alphabetical order.
std::span<const CheckpointMethod> checkpoint_methods();

// The rows' functions, one pair for each method or family of methods.
std::string gptq_scheme(const Config& q);
void gptq_exceptions(const Config& q, const Config& file, CheckpointDetails& details);
std::string awq_scheme(const Config& q);
void awq_exceptions(const Config& q, const Config& file, CheckpointDetails& details);
std::string auto_round_scheme(const Config& q);
void auto_round_exceptions(const Config& q, const Config& file, CheckpointDetails& details);
std::string compressed_scheme(const Config& q);
void compressed_exceptions(const Config& q, const Config& file, CheckpointDetails& details);
/// Targets of each group in `config_groups` by the key that has them.
std::map<std::string, std::vector<std::string>> group_targets(const Config& q);
std::string mlx_scheme(const Config& q);
void mlx_exceptions(const Config& q, const Config& file, CheckpointDetails& details);
std::string modelopt_scheme(const Config& q);
void modelopt_exceptions(const Config& q, const Config& file, CheckpointDetails& details);
std::string bitsandbytes_scheme(const Config& q);
std::string fp8_scheme(const Config& q);
std::string deepseek_v4_scheme(const Config& q, const Config& file);
void deepseek_v4_exceptions(const Config& q, const Config& file, CheckpointDetails& details);
void bitsandbytes_exceptions(const Config& q, const Config& file, CheckpointDetails& details);
std::string quark_scheme(const Config& q, const Config& file);
void quark_exceptions(const Config& q, const Config& file, CheckpointDetails& details);
std::string torchao_scheme(const Config& q);
void torchao_exceptions(const Config& q, const Config& file, CheckpointDetails& details);

/// Adds patterns for the modules that an entry of transformers' lists keeps, as of 5.0: an
/// expression at the path's beginning, or its end. `bounded`: the beginning must end at a dot, as
/// of 5.23. Source: quantizers/quantizers_utils.py of 5.0, 5.10 and 5.23, should_convert_module.
void add_not_converted(std::vector<std::string>& patterns, const std::string& entry, bool bounded);

/// Adds the group to the name unless it is 128: "gptq-int4", "gptq-int4-64g", "gptq-int4-nogroup".
/// Throws ConfigError about `key` for groups that no layout has.
std::string with_group(const std::string& base, const Config& q, double group,
                       std::string_view key);
/// A regular expression that matches exactly `text`.
std::string escaped(std::string_view text);

/// Schemes by what a list says of a module. Lists of tens of thousands of modules say few different
/// things, so each is read once.
class SchemesByRule {
 public:
  /// The scheme of `rule`, which `read` finds where it is new.
  template <class Read>
  const std::string& of(const boost::json::value& rule, Read&& read) {
    for (const auto& [known, scheme] : known_)
      if (same(*known, rule)) return scheme;
    return known_.emplace_back(&rule, read()).second;
  }

 private:
  static bool same(const boost::json::value& a, const boost::json::value& b);

  std::vector<std::pair<const boost::json::value*, std::string>> known_;
};

/// Throws ConfigError where `quantized_layers` (ModelOpt: an algorithm for each module) has a word
/// that is not known, or a format other than the module's group.
void check_layers(const Config& q, std::span<const CheckpointGroup> groups);
/// Adds `pattern` with `scheme` as the last rule of `details`.
void add_rule(CheckpointDetails& details, std::string_view scheme, std::string pattern);
/// Keeps modules in 16 bit, before any other rule.
void stay(CheckpointDetails& details, std::vector<std::string> patterns);

}  // namespace headroom::model
