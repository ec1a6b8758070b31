// Reads quantization_config: one small function for each method, refusing what it does not know.
#include "model/checkpoint.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <optional>

#include "hardware/names.hpp"
#include "model/config.hpp"

namespace headroom::model {
namespace {

constexpr std::string_view quantisation_key = "quantization_config";
constexpr std::string_view methods =
    "awq, bitsandbytes, compressed-tensors, fbgemm_fp8, fp8, gptq, modelopt, mxfp4";

/// The quantisation section, at the top or in the text model's config.
std::optional<Config> quantisation_of(const Config& config) {
  if (config.has(quantisation_key)) return config.section(quantisation_key);
  if (config.has("text_config") && config.section("text_config").has(quantisation_key))
    return config.section("text_config").section(quantisation_key);
  return std::nullopt;
}

/// `torch_dtype` as a scheme. Absent or "auto": PyTorch's default, fp32.
std::string plain_scheme(const Config& config) {
  const Config text = config.section_or_empty("text_config");
  const Config& holder = config.has("torch_dtype") || config.has("dtype") ? config : text;
  std::string type = holder.text({"dtype", "torch_dtype"}, "float32");
  if (type.starts_with("torch.")) type = type.substr(6);
  if (type == "float32" || type == "float" || type == "auto") return "fp32";
  if (type == "bfloat16") return "bf16";
  if (type == "float16" || type == "half") return "fp16";
  holder.fail(holder.has("dtype") ? "dtype" : "torch_dtype",
              fmt::format("found '{}', expected float32, float16 or bfloat16", type));
}

/// "gptq-int4" and the like: the group in the name unless it is 128.
std::string grouped(std::string_view method, const Config& q, Size bits, double group,
                    std::string_view key) {
  const std::string base = fmt::format("{}-int{}", method, bits);
  if (group == 128) return base;
  if (group == -1) return base + "-nogroup";
  if (group == 64 || group == 32) return fmt::format("{}-{}g", base, group);
  q.fail(key, fmt::format("found a group of {}, expected 32, 64, 128 or -1", group));
}

std::string gptq_scheme(const Config& q) {
  const Size bits = q.dim({"bits"});
  if (bits != 3 && bits != 4 && bits != 8)
    q.fail("bits", fmt::format("found {}, expected 3, 4 or 8", bits));
  const double group = q.number({"group_size"}, 128);
  if (bits != 4 && group != 128 && group != -1)
    q.fail("group_size", fmt::format("found {}, expected 128 or -1 for {} bits", group, bits));
  return grouped("gptq", q, bits, group, "group_size");
}

std::string awq_scheme(const Config& q) {
  const Size bits = q.dim({"bits", "w_bit"}, 4);
  if (bits != 4) q.fail("bits", fmt::format("found {}, expected 4", bits));
  const double group = q.number({"group_size", "q_group_size"}, 128);
  if (group == -1) q.fail("group_size", "found -1, expected 32, 64 or 128");
  return grouped("awq", q, bits, group, "group_size");
}

std::string bitsandbytes_scheme(const Config& q) {
  if (q.flag({"load_in_8bit"}, false)) return "int8";
  if (!q.flag({"load_in_4bit"}, false))
    q.fail("load_in_4bit", "neither load_in_4bit nor load_in_8bit is true");
  const std::string type = q.text({"bnb_4bit_quant_type"}, "fp4");
  if (type != "nf4" && type != "fp4")
    q.fail("bnb_4bit_quant_type", fmt::format("found '{}', expected nf4 or fp4", type));
  return q.flag({"bnb_4bit_use_double_quant"}, false) ? type + "-double" : type;
}

std::string fp8_scheme(const Config& q) {
  if (!q.has("weight_block_size"))
    return q.text({"activation_scheme"}, "dynamic") == "static" ? "fp8-static" : "fp8";
  const std::vector<Size> block = q.dims({"weight_block_size"});
  if (block != std::vector<Size>{128, 128})
    q.fail("weight_block_size", "expected [128, 128]; other blocks are not known");
  return "fp8-block";
}

/// Scheme of one group of compressed-tensors or ModelOpt: `weights` says type, bits and strategy.
std::string group_scheme(const Config& group) {
  const Config weights = group.section("weights");
  const Size bits = weights.dim({"num_bits"});
  const std::string type = weights.text({"type"}, "int");
  const double size = weights.number({"group_size"}, 0);
  const std::string strategy = weights.text({"strategy"}, size > 0 ? "group" : "tensor");
  if (type == "float" && bits == 8 && strategy == "block") {
    if (weights.dims({"block_structure"}) == std::vector<Size>{128, 128}) return "fp8-block";
    weights.fail("block_structure", "expected [128, 128]; other blocks are not known");
  }
  if (type == "float" && bits == 8 && strategy == "channel") return "fp8-channel";
  if (type == "float" && bits == 8 && strategy == "tensor") {
    const Config input = group.section_or_empty("input_activations");
    return input.flag({"dynamic"}, true) ? "fp8" : "fp8-static";
  }
  if (type == "float" && bits == 4 && size == 16) return "nvfp4";
  if (type == "float" && bits == 4 && size == 32) return "mxfp4-linear";
  if (type == "int" && bits == 8 && strategy == "channel") return "w8a8-int8";
  if (type == "int" && bits == 4 && size == 128) return "int4";
  if (type == "int" && bits == 4 && (size == 32 || size == 64))
    return fmt::format("int4-{}g", size);
  if (type == "int" && bits == 4 && strategy == "channel") return "int4-nogroup";
  weights.fail("num_bits",
               fmt::format("{}-bit {} weights with strategy '{}' and groups of {} are not known",
                           bits, type, strategy, size));
}

std::vector<CheckpointGroup> groups_of(const Config& q) {
  std::vector<CheckpointGroup> groups;
  const Config all = q.section_or_empty("config_groups");
  for (const auto& [name, value] : all.object()) {
    const Config group = all.section(name);
    groups.push_back({group_scheme(group), group.texts({"targets"})});
    if (groups.back().targets.empty()) groups.back().targets = {"Linear"};
  }
  return groups;
}

/// The group that holds all linear layers but those that other groups name.
std::optional<std::size_t> main_group(const std::vector<CheckpointGroup>& groups) {
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const std::string& target : groups[i].targets)
      if (target == "Linear") return i;
  return std::nullopt;
}

std::string grouped_scheme(const Config& q) {
  const auto groups = groups_of(q);
  if (const auto main = main_group(groups)) return groups[*main].scheme;
  if (!groups.empty()) return groups.back().scheme;
  const std::string algorithm = lower(q.text({"quant_algo"}, ""));
  if (algorithm == "fp8") return "fp8-static";
  if (algorithm == "nvfp4") return "nvfp4";
  q.fail("config_groups", "missing or empty, and 'quant_algo' is neither FP8 nor NVFP4");
}

std::string method_of(const Config& q) {
  if (q.has("quant_method")) return lower(q.text({"quant_method"}));
  if (q.has("quant_algo")) return "modelopt";
  if (q.has("load_in_8bit") || q.has("load_in_4bit")) return "bitsandbytes";
  throw NotDescribed(fmt::format("{}: key '{}.quant_method': missing; known methods: {}",
                                 q.origin(), quantisation_key, methods));
}

void append(std::vector<std::string>& to, std::vector<std::string> from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::string checkpoint_scheme(const Config& config) {
  const auto q = quantisation_of(config);
  if (!q) return plain_scheme(config);
  const std::string method = method_of(*q);
  if (method == "fp8") return fp8_scheme(*q);
  if (method == "fbgemm_fp8") return "fp8-channel";
  if (method == "mxfp4") return "mxfp4";
  if (method == "gptq") return gptq_scheme(*q);
  if (method == "awq") return awq_scheme(*q);
  if (method == "bitsandbytes") return bitsandbytes_scheme(*q);
  if (method == "compressed-tensors" || method == "modelopt") return grouped_scheme(*q);
  throw NotDescribed(fmt::format("{}: key '{}.quant_method': found '{}'; known methods: {}",
                                 config.origin(), quantisation_key, method, methods));
}

CheckpointDetails checkpoint_details(const Config& config) {
  CheckpointDetails details;
  const auto q = quantisation_of(config);
  const Config text = config.section_or_empty("text_config");
  details.stated = q.has_value();
  for (const Config& c : {config, text}) {
    const std::string type = c.text({"dtype", "torch_dtype"}, "auto");
    details.stated = details.stated || type != "auto";
  }
  if (!q) return details;
  append(details.ignored, q->texts({"modules_to_not_convert", "ignore", "llm_int8_skip_modules",
                                    "exclude_modules"}));
  details.groups = groups_of(*q);
  const auto main = main_group(details.groups);
  const ModuleNames checked(details.ignored);
  if (main)
    details.groups.erase(details.groups.begin() + static_cast<std::ptrdiff_t>(*main));
  else if (!details.groups.empty())
    details.ignored = {"*"};  // every converted module is listed
  return details;
}

ModuleNames::ModuleNames(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const bool expression = pattern.starts_with("re:");
    std::string regex;
    if (expression || pattern.find_first_of("\\()[]|+?^$") != std::string::npos) {
      regex = expression ? pattern.substr(3) : pattern;
    } else if (pattern.find('*') != std::string::npos) {
      for (const char c : pattern) regex += c == '*' ? ".*" : c == '.' ? "\\." : std::string(1, c);
    } else {
      plain_.push_back(pattern);
      continue;
    }
    try {
      expressions_.emplace_back("(?:" + regex + ")(\\..*)?");
    } catch (const boost::regex_error& error) {
      throw ConfigError(
          fmt::format("{}: module pattern '{}': {}", quantisation_key, pattern, error.what()));
    }
  }
}

bool ModuleNames::contain(std::string_view path) const {
  for (const std::string& name : plain_)
    if (path.ends_with(name) || (path.starts_with(name) && path[name.size()] == '.')) return true;
  try {
    for (const boost::regex& expression : expressions_)
      if (boost::regex_match(path.begin(), path.end(), expression)) return true;
  } catch (const std::runtime_error& error) {  // gives up on a pattern of too many steps
    throw ConfigError(
        fmt::format("{}: module patterns on '{}': {}", quantisation_key, path, error.what()));
  }
  return false;
}

bool ModuleNames::contain_expert_of(std::string_view path) const {
  const std::string below = std::string(path) + '.';
  for (const std::string& name : plain_)
    if (name.starts_with(below)) return true;
  return false;
}

}  // namespace headroom::model
