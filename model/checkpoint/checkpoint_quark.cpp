// AMD Quark: a specification of weights, inputs and outputs for all modules, and others for some.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "model/checkpoint/checkpoint_methods.hpp"
#include "model/checkpoint/quantisation/quark_layouts.hpp"

namespace headroom::model {
namespace {

/// The specifications of `key` in a layer's section: none, one, or two (scales that are quantised
/// again).
std::vector<Config> specifications(const Config& layer, std::string_view key) {
  std::vector<Config> all;
  if (!layer.has(key)) return all;
  const boost::json::value& value = layer.object().at(key);
  if (!value.is_array()) return {layer.section(key)};
  if (value.get_array().empty()) layer.fail(key, "found an empty list");
  for (const boost::json::value& each : value.get_array()) {
    if (!each.is_object()) layer.fail(key, "expected a specification, or a list of them");
    all.emplace_back(each.get_object(), layer.origin());
  }
  return all;
}

/// "fp4 per_group 32 e8m0": what decides the layout.
std::string summary(const Config& spec) {
  const Size group = spec.count({"group_size"}, 0);
  const std::string scheme = spec.text({"qscheme"}, ""), format = spec.text({"scale_format"}, "");
  std::string text = spec.text({"dtype"}) + " " + scheme;
  if (group > 0) text += fmt::format(" {}", group);
  if (format == "e8m0" || format == "e5m3") text += " " + format;
  if (scheme == "per_channel" && spec.number({"ch_axis"}, 0) != 0) text += " of inputs";
  return text;
}

struct Layout {
  std::string_view specifications, base;
};
/// Weights by their specifications. vLLM 0.33 quark.py reads the same ones.
constexpr Layout layouts[] = {
    {"fp8_e4m3 per_tensor", "fp8"},
    {"fp8_e5m2 per_tensor", "fp8"},
    {"fp8_e4m3 per_channel", "fp8-channel"},
    {"fp8_e5m2 per_channel", "fp8-channel"},
    {"int8 per_tensor", "int8"},
    {"uint8 per_tensor", "int8"},
    {"int8 per_channel", "int8-channel"},
    {"uint8 per_channel", "int8-channel"},
    {"int4 per_channel", "int4-channel"},
    {"uint4 per_channel", "int4-channel"},
    {"int4 per_group 32", "int4-32g"},
    {"uint4 per_group 32", "int4-32g"},
    {"int4 per_group 64", "int4-64g"},
    {"uint4 per_group 64", "int4-64g"},
    {"int4 per_group 128", "int4-128g"},
    {"uint4 per_group 128", "int4-128g"},
    {"fp4 per_group 32 e8m0", "mxfp4"},
    {"fp6_e3m2 per_group 32 e8m0", "mxfp6"},
    {"fp6_e2m3 per_group 32 e8m0", "mxfp6"},
    {"fp4 per_group 16 + fp8_e4m3 per_tensor", "nvfp4"},
    {"fp8_e4m3 per_tensor + int4 per_channel", "int4-fp8"},
};

/// True if a constant scale of `key` is stored: the last specification is not made at run time.
bool stores_scale(const Config& layer, std::string_view key) {
  const std::vector<Config> all = specifications(layer, key);
  if (all.empty()) return false;
  for (const Config& each : all) summary(each);  // keys of dynamic scales are known too
  if (all.back().flag({"is_dynamic"}, false)) return false;
  if (const std::string found = all.back().text({"qscheme"}, ""); found != "per_tensor")
    layer.fail(key, fmt::format("found constant scales '{}', expected per_tensor", found));
  return true;
}

/// Scales have the model's type unless the specification says another. Blocks of FP8 come from
/// checkpoints that were quantised before, with their fp32 scales.
std::string layer_scheme(const Config& layer, const Config& file) {
  const std::vector<Config> weights = specifications(layer, "weight");
  if (weights.empty()) return "bf16";
  std::string found;
  for (const Config& each : weights) found += (found.empty() ? "" : " + ") + summary(each);
  const Config& first = weights.front();
  if (first.text({"qscheme"}, "") == "per_block" && weights.size() == 1) {
    const std::vector<Size> block = first.dims({"block_size"});
    const bool bytes = first.text({"scale_type"}, "") == "float8_e8m0fnu" ||
                       first.text({"scale_format"}, "") == "e8m0";
    const bool large = block == std::vector<Size>{128, 128};
    if (large || (bytes && block == std::vector<Size>{32, 32}))
      return !bytes ? "fp8-block" : large ? "fp8-block-e8m0" : "fp8-block32-e8m0";
    first.fail("block_size", fmt::format("found [{}], expected [128, 128], or [32, 32] with scales "
                                         "in float8_e8m0fnu",
                                         fmt::join(block, ", ")));
  }
  std::string known;
  for (const Layout& row : layouts) {
    known += (known.empty() ? "" : ", ") + std::string(row.specifications);
    if (row.specifications != found) continue;
    const std::string type = first.text({"scale_type"}, "float");
    const std::string model_type = file.text({"dtype", "torch_dtype"}, "");
    const bool fp32 = type == "float32" || (type == "float" && model_type.ends_with("float32"));
    return quark_name(row.base, {stores_scale(layer, "input_tensors"),
                                 stores_scale(layer, "output_tensors"), fp32});
  }
  layer.fail("weight", fmt::format("found '{}', whose layout is not described; expected one of {}",
                                   found, known));
}

bool is_wildcard(std::string_view name) {
  return name.find_first_of("*?[") != std::string_view::npos || name.starts_with("re:");
}

/// A pattern of fnmatch as one of ModuleNames, where stars mean the same. "re:" is vLLM's.
std::string as_module_pattern(std::string_view pattern) {
  if (pattern.starts_with("re:") || pattern.find_first_of("?[") == std::string_view::npos)
    return std::string(pattern);
  std::string expression = "re:";
  for (const char c : pattern) {
    if (c == '*')
      expression += ".*";
    else if (c == '?')
      expression += '.';
    else if (c == '[' || c == ']')
      expression += c;
    else
      expression += escaped(std::string_view(&c, 1));
  }
  return expression;
}

}  // namespace

std::string quark_scheme(const Config& q, const Config& file) {
  const Config outlet = q.section_or_empty("export");
  if (const std::string found = outlet.text({"weight_format"}, "real_quantized");
      found != "real_quantized")
    outlet.fail("weight_format", fmt::format("found '{}', expected real_quantized: others are "
                                             "stored in 16 bit, and are not described",
                                             found));
  return layer_scheme(q.section("global_quant_config"), file);
}

/// Modules that `exclude` names stay. Then the first that matches decides, of
/// `kv_cache_quant_config`, `layer_quant_config` and the general specification; whole names come
/// before wildcards.
/// Source: AMD Quark 0.13 torch/quantization/model_transformation.py, setup_config_per_layer and
/// setup_kv_cache_config.
void quark_exceptions(const Config& q, const Config& file, CheckpointDetails& details) {
  for (const auto& [type, value] : q.section_or_empty("layer_type_quant_config").object())
    q.fail("layer_type_quant_config",
           fmt::format("found '{}': specifications by class are not described; expected an empty "
                       "section",
                       std::string_view(type)));
  std::vector<std::string> excluded;
  for (const std::string& pattern : q.texts({"exclude"}))
    excluded.push_back(as_module_pattern(pattern));
  stay(details, std::move(excluded));
  for (const std::string_view key : {"kv_cache_quant_config", "layer_quant_config"}) {
    const Config layers = q.section_or_empty(key);
    SchemesByRule schemes;
    for (const bool wildcards : {false, true})
      for (const auto& [name, value] : layers.object()) {
        if (is_wildcard(name) != wildcards) continue;
        const std::string& stored =
            schemes.of(value, [&] { return layer_scheme(layers.example(name), file); });
        add_rule(details, stored, as_module_pattern(name));
      }
  }
  details.groups.push_back({quark_scheme(q, file), {std::string(output_head)}});
}

}  // namespace headroom::model
