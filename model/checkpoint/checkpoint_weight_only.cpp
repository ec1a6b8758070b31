// GPTQ, AWQ and methods with the same packing: bits, groups, and rules for single modules.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "model/checkpoint/checkpoint_methods.hpp"

namespace headroom::model {
namespace {

/// GPTQModel names itself and omits the zero bias that AutoGPTQ stores.
std::string packer(const Config& q) {
  const Config meta = q.section_or_empty("meta");
  const auto* by = meta.object().if_contains("quantizer");
  if (by == nullptr) return "gptq";
  return boost::json::serialize(*by).find("gptqmodel:") != std::string::npos ? "gptqmodel" : "gptq";
}

std::string packed_scheme(const std::string& method, const Config& q, Size bits, double group) {
  if (bits != 2 && bits != 3 && bits != 4 && bits != 8)
    q.fail("bits", fmt::format("found {}, expected 2, 3, 4 or 8", bits));
  return with_group(fmt::format("{}-int{}", method, bits), q, group, "group_size");
}

/// The config's rule for some modules. Missing keys have the general value.
std::string overridden(const std::string& method, const Config& q, const Config& rule) {
  return packed_scheme(method, rule, rule.dim({"bits"}, q.dim({"bits"})),
                       rule.number({"group_size"}, q.number({"group_size"}, 128)));
}

/// Names inside a layer: one list, or one list for each calibration step.
std::vector<std::string> names_in_block(const Config& q) {
  constexpr std::string_view key = "modules_in_block_to_quantize";
  std::vector<std::string> all;
  if (!q.has(key)) return all;
  const boost::json::value& value = q.object().at(key);
  const auto add = [&](const boost::json::value& each) {
    if (!each.is_string()) q.fail(key, "expected names of modules in a block");
    all.emplace_back(each.get_string());
  };
  if (!value.is_array()) q.fail(key, "expected a list of names of modules in a block");
  for (const auto& each : value.get_array()) {
    if (!each.is_array()) {
      add(each);
      continue;
    }
    for (const auto& name : each.get_array()) add(name);
  }
  return all;
}

/// `modules_to_not_convert` matches any part of the path (AutoAWQ models/base.py, _exclude_layers;
/// transformers 4.57 integrations/awq.py).
void unquantised_by_part(const Config& q, CheckpointDetails& details) {
  std::vector<std::string> patterns;
  for (const std::string& part : q.texts({"modules_to_not_convert"}))
    patterns.push_back("part:" + part);
  stay(details, std::move(patterns));
}

}  // namespace

std::string gptq_scheme(const Config& q) {
  const std::string format = q.text({"checkpoint_format", "format"}, "gptq");
  if (format != "gptq" && format != "gptq_v2")
    q.fail(
        q.has("checkpoint_format") ? "checkpoint_format" : "format",
        fmt::format("found '{}', whose layout is not described; expected gptq or gptq_v2", format));
  if (q.flag({"is_marlin_format"}, false))
    q.fail("is_marlin_format", "true: Marlin's own layout is not described");
  for (const char* key : {"adapter", "lora"})
    if (q.has(key)) q.fail(key, "adapters in a quantised checkpoint are not described");
  return packed_scheme(packer(q), q, q.dim({"bits"}), q.number({"group_size"}, 128));
}

/// `dynamic`: the first expression that matches the start of a path decides. "-:" keeps the module
/// in 16 bit; "+:" or no prefix sets its bits or group (GPTQModel QuantizeConfig; vLLM
/// utils/gptq_utils.py, get_dynamic_override). `modules_in_block_to_quantize`: only these are
/// converted (transformers GPTQConfig). `lm_head`: the head is converted too.
void gptq_exceptions(const Config& q, const Config&, CheckpointDetails& details) {
  unquantised_by_part(q, details);
  const Config rules = q.section_or_empty("dynamic");
  for (const auto& [name, value] : rules.object()) {
    const std::string_view pattern = name;
    if (pattern.starts_with("-:")) {
      stay(details, {fmt::format("re:(?:{}).*", pattern.substr(2))});
      continue;
    }
    const std::string expression(pattern.starts_with("+:") ? pattern.substr(2) : pattern);
    details.groups.push_back({overridden(packer(q), q, rules.section(pattern)),
                              {fmt::format("re:(?:{}).*", expression)}});
  }
  if (q.flag({"lm_head"}, false))
    details.groups.push_back({gptq_scheme(q), {std::string(output_head)}});
  const std::vector<std::string> names = names_in_block(q);
  if (names.empty()) return;
  CheckpointGroup only{gptq_scheme(q), {}};
  for (const std::string& name : names) only.targets.push_back("re:.*\\.\\d+\\." + escaped(name));
  details.groups.push_back(std::move(only));
  details.ignored = {"*"};
}

std::string awq_scheme(const Config& q) {
  const Size bits = q.dim({"bits", "w_bit"}, 4);
  if (bits != 4) q.fail("bits", fmt::format("found {}, expected 4", bits));
  std::string version = q.text({"version"}, "gemm");
  for (char& c : version) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (version != "gemm" && version != "exllama" && version != "ipex")
    q.fail("version",
           fmt::format("found '{}', whose layout is not described; expected gemm", version));
  const double group = q.number({"group_size", "q_group_size"}, 128);
  if (group == -1) q.fail("group_size", "found -1, expected 32, 64 or 128");
  return with_group("awq-int4", q, group, "group_size");
}

void awq_exceptions(const Config& q, const Config&, CheckpointDetails& details) {
  unquantised_by_part(q, details);
}

std::string auto_round_scheme(const Config& q) {
  const std::string packing = q.text({"packing_format", "backend"}, "auto_round:auto_gptq");
  const std::string type = q.text({"data_type"}, "int");
  if (type != "int")
    q.fail("data_type",
           fmt::format("found '{}', whose packing is not described; expected int", type));
  if (packing.find("awq") != std::string::npos) return awq_scheme(q);
  if (packing.find("gptq") == std::string::npos && packing != "auto" && packing != "auto_round")
    q.fail("packing_format",
           fmt::format("found '{}', whose layout is not described; expected auto_round:auto_gptq "
                       "or auto_round:auto_awq",
                       packing));
  return packed_scheme("auto-round", q, q.dim({"bits"}), q.number({"group_size"}, 128));
}

/// `extra_config`: bits and groups by module, or by expression where the key has a character that
/// expressions have. Names come first, then the first expression that matches a whole name. Modules
/// with 16 bits are not converted. Source: SGLang 0.5.23 quantization/auto_round.py,
/// get_layer_config.
void auto_round_exceptions(const Config& q, const Config&, CheckpointDetails& details) {
  const Config rules = q.section_or_empty("extra_config");
  const bool awq = auto_round_scheme(q).starts_with("awq");
  const auto scheme_of_rule = [&](const Config& rule) -> std::string {
    const Size bits = rule.dim({"bits"}, q.dim({"bits"}));
    if (bits >= 16) return "bf16";
    if (awq && bits != 4) rule.fail("bits", fmt::format("found {}, expected 4 or 16", bits));
    if (!awq) return overridden("auto-round", q, rule);
    return with_group("awq-int4", rule, rule.number({"group_size"}, q.number({"group_size"}, 128)),
                      "group_size");
  };
  SchemesByRule schemes;
  std::vector<std::pair<std::string, std::string>> expressions;  // scheme, pattern
  for (const auto& [name, value] : rules.object()) {
    const std::string& held =
        schemes.of(value, [&] { return scheme_of_rule(rules.example(name)); });
    if (std::string_view(name).find_first_of("*+?^$()[]{}|\\") != std::string_view::npos) {
      expressions.emplace_back(held, "re:" + std::string(name));
      continue;
    }
    add_rule(details, held, std::string(name));
    if (name == "lm_head" && held != "bf16") add_rule(details, held, std::string(output_head));
  }
  for (auto& [held, pattern] : expressions) add_rule(details, held, std::move(pattern));
  unquantised_by_part(q, details);
}

}  // namespace headroom::model
