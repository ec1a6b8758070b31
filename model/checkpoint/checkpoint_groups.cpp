// compressed-tensors and NVIDIA ModelOpt: groups of modules with different kinds of weights.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <map>
#include <optional>

#include "hardware/names.hpp"
#include "model/checkpoint/checkpoint_methods.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {
namespace {

/// compressed-tensors writes its version, or in 2024 a ratio, and the shape as int64. Other writers
/// of the layout write int32.
bool by_compressed_tensors(const Config& q) {
  return q.has("version") || q.has("global_compression_ratio");
}

/// Integers packed into int32 (compressed-tensors compressors, pack_quantized.py). Asymmetric
/// weights add zero points. Groups in the order of activations add an index.
std::string packed_scheme(const Config& q, const Config& weights, Size bits, double group) {
  if (bits != 4 && bits != 8)
    weights.fail("num_bits", fmt::format("found {}, expected 4 or 8 for pack-quantized", bits));
  std::string name = with_group(bits == 4 ? "int4" : "packed-int8", weights, group, "group_size");
  if (!weights.flag({"symmetric"}, true)) name += "-asymmetric";
  const auto* order = weights.object().if_contains("actorder");
  const bool flagged = order != nullptr && order->is_bool();
  const std::string text =
      flagged ? (order->get_bool() ? "group" : "") : weights.text({"actorder"}, "");
  if (text == "group" || text == "dynamic") return name + "-actorder";
  if (!text.empty() && text != "weight" && text != "static")
    weights.fail("actorder",
                 fmt::format("found '{}', expected group, weight, dynamic or static", text));
  if (!by_compressed_tensors(q) && weights.flag({"symmetric"}, true)) name += "-short-shape";
  return name;
}

std::string float8_scheme(const Config& group, const Config& weights, const std::string& strategy) {
  if (strategy == "block") {
    if (weights.dims({"block_structure"}) == std::vector<Size>{128, 128}) return "fp8-block";
    weights.fail("block_structure", "expected [128, 128]; other blocks are not known");
  }
  if (strategy == "channel") return "fp8-channel";
  if (strategy == "tensor")
    return group.section_or_empty("input_activations").flag({"dynamic"}, true) ? "fp8"
                                                                               : "fp8-static";
  return "";
}

/// True if activations are quantised. The weight then has an additional input scale.
bool has_input(const Config& group) { return group.has("input_activations"); }

/// Scheme of a group of the section `q`: `weights` gives type, bits and strategy, `format` the
/// packing.
std::string group_scheme(const Config& q, const Config& group, const std::string& whole_format) {
  if (!group.has("weights"))
    group.fail("weights",
               "missing or null: groups that quantise activations alone are not described");
  const Config weights = group.section("weights");
  const std::string format = group.text({"format"}, whole_format);
  const Size bits = weights.dim({"num_bits"});
  const std::string type = weights.text({"type"}, "int");
  const double size = weights.number({"group_size"}, 0);
  const std::string strategy = weights.text({"strategy"}, size > 0 ? "group" : "tensor");
  std::string name;
  if (type == "float" && bits == 8) name = float8_scheme(group, weights, strategy);
  if (type == "float" && bits == 4 && size == 16)
    name = has_input(group) ? "nvfp4" : "nvfp4-weights";
  if (type == "float" && bits == 4 && size == 32) name = "mxfp4-linear";
  const bool packed = format.empty() ? bits == 4 : format == "pack-quantized";
  if (type == "int" && packed && strategy == "group") name = packed_scheme(q, weights, bits, size);
  if (type == "int" && packed && strategy == "channel") name = packed_scheme(q, weights, bits, -1);
  if (type == "int" && bits == 8 && !packed && strategy == "channel") {
    if (!weights.flag({"symmetric"}, true))
      weights.fail("symmetric", "false: zero points of unpacked int8 are not described");
    name = "w8a8-int8";
  }
  if (name.empty())
    weights.fail("num_bits", fmt::format("{}-bit {} weights with strategy '{}', groups of {} and "
                                         "format '{}' are not known",
                                         bits, type, strategy, size, format));
  return name;
}

std::vector<CheckpointGroup> groups_of(const Config& q) {
  std::vector<CheckpointGroup> groups;
  const std::string format = q.text({"format"}, "");
  const Config all = q.section_or_empty("config_groups");
  for (const auto& [name, value] : all.object()) {
    const Config group = all.section(name);
    groups.push_back({group_scheme(q, group, format == "mixed-precision" ? "" : format),
                      group.texts({"targets"})});
    if (groups.back().targets.empty()) groups.back().targets = {"Linear"};
  }
  return groups;
}

/// The group with all linear layers that no other group names.
std::optional<std::size_t> main_group(const std::vector<CheckpointGroup>& groups) {
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const std::string& target : groups[i].targets)
      if (target == "Linear") return i;
  return std::nullopt;
}

/// ModelOpt's algorithm names. Sources: vLLM quantization/modelopt.py, QUANT_ALGOS; Model-Optimizer
/// torch/export/convert_hf_config.py.
struct Algorithm {
  std::string_view name, scheme;
  Size group;  ///< elements in a group; 0: no groups
};
constexpr Algorithm algorithms[] = {
    {"fp8", "fp8-static", 0},
    {"fp8_per_channel_per_token", "fp8-channel-fp32", 0},
    {"fp8_pb_wo", "fp8-block", 0},
    {"nvfp4", "nvfp4", 16},
    {"w4a16_nvfp4", "nvfp4-weights", 16},
    {"mxfp8", "mxfp8-linear", 32},
    {"mxfp4", "mxfp4-linear", 32},
};

std::string algorithm_scheme(const Config& q) {
  const std::string found = lower(q.text({"quant_algo"}));
  std::string names;
  for (const Algorithm& row : algorithms) {
    names += (names.empty() ? "" : ", ") + std::string(row.name);
    if (row.name != found) continue;
    const Size group = q.count({"group_size"}, row.group);
    if (row.group > 0 && group != row.group)
      q.fail("group_size", fmt::format("found {}, expected {} for {}", group, row.group, found));
    return std::string(row.scheme);
  }
  q.fail("quant_algo", fmt::format("found '{}', whose layout is not described; expected one of {}",
                                   found, names));
}

/// `quantized_layers`: an algorithm for each module.
std::vector<CheckpointGroup> layers_of(const Config& q) {
  std::map<std::string, std::vector<std::string>> by_scheme;
  const Config all = q.section_or_empty("quantized_layers");
  SchemesByRule schemes;
  for (const auto& [name, value] : all.object())
    by_scheme[schemes.of(value, [&] { return algorithm_scheme(all.example(name)); })].emplace_back(
        name);
  std::vector<CheckpointGroup> groups;
  for (auto& [scheme, targets] : by_scheme) groups.push_back({scheme, std::move(targets)});
  return groups;
}

/// The scheme of most modules, for groups that list modules one by one.
std::string most_named(const std::vector<CheckpointGroup>& groups) {
  const auto most = std::ranges::max_element(
      groups, {}, [](const CheckpointGroup& g) { return g.targets.size(); });
  return most->scheme;
}

std::string scheme_of(const std::vector<CheckpointGroup>& groups) {
  const auto main = main_group(groups);
  return main ? groups[*main].scheme : groups.back().scheme;
}

/// Makes the main group the checkpoint's scheme, and all other groups exceptions.
void add_groups(std::vector<CheckpointGroup> groups, CheckpointDetails& details) {
  if (const auto main = main_group(groups))
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(*main));
  else
    details.ignored = {"*"};  // every converted module is listed
  details.groups.insert(details.groups.end(), groups.begin(), groups.end());
}

}  // namespace

void check_layers(const Config& q, std::span<const CheckpointGroup> groups) {
  std::map<std::string_view, std::string_view> schemes;
  for (const CheckpointGroup& group : groups)
    for (const std::string& target : group.targets) schemes.emplace(target, group.scheme);
  for (const CheckpointGroup& listed : layers_of(q))
    for (const std::string& module : listed.targets) {
      auto other = schemes.find(module);
      if (other == schemes.end()) other = schemes.find("Linear");
      if (other == schemes.end()) continue;
      const auto format = scheme(listed.scheme).format, in_group = scheme(other->second).format;
      if (format != in_group)
        q.fail("quantized_layers", fmt::format("found {} for '{}', which is {} in config_groups",
                                               format, module, in_group));
    }
}

std::map<std::string, std::vector<std::string>> group_targets(const Config& q) {
  if (q.has("quantization")) return group_targets(q.section("quantization"));
  std::map<std::string, std::vector<std::string>> targets;
  // Not through Config: a method that does not read the groups leaves their keys unread.
  const auto* all = q.object().if_contains("config_groups");
  if (all == nullptr || !all->is_object()) return targets;
  for (const auto& [name, group] : all->get_object()) {
    const auto* listed = group.is_object() ? group.get_object().if_contains("targets") : nullptr;
    if (listed == nullptr || !listed->is_array()) continue;
    auto& of_group = targets[fmt::format("config_groups.{}.targets", std::string_view(name))];
    for (const auto& each : listed->get_array())
      if (each.is_string()) of_group.emplace_back(std::string_view(each.get_string()));
  }
  return targets;
}

std::string compressed_scheme(const Config& q) {
  const std::string format = q.text({"format"}, "");
  constexpr std::string_view known[] = {"",
                                        "pack-quantized",
                                        "int-quantized",
                                        "float-quantized",
                                        "naive-quantized",
                                        "nvfp4-pack-quantized",
                                        "mxfp4-pack-quantized",
                                        "mixed-precision"};
  if (std::ranges::find(known, format) == std::end(known))
    q.fail("format", fmt::format("found '{}', whose layout is not described", format));
  const Config sparse = q.section_or_empty("sparsity_config");
  const std::string sparsity = sparse.text({"format"}, "dense");
  if (sparsity != "dense")
    sparse.fail("format", fmt::format("found '{}': sparse layouts are not described", sparsity));
  const Config transforms = q.section_or_empty("transform_config");
  for (const auto& [name, value] : transforms.object())
    q.fail("transform_config",
           fmt::format("found '{}': the matrices of transforms are not described; expected an "
                       "empty section, as a checkpoint without transforms has",
                       std::string_view(name)));
  const auto groups = groups_of(q);
  if (groups.empty()) q.fail("config_groups", "missing or empty");
  return scheme_of(groups);
}

/// `ignore`: whole names, or expressions that match the start of a name (compressed-tensors
/// utils/match.py). "Linear" means every such module, including the output head.
void compressed_exceptions(const Config& q, const Config&, CheckpointDetails& details) {
  std::vector<std::string> patterns = q.texts({"ignore"});
  for (std::string& pattern : patterns)
    if (pattern.starts_with("re:")) pattern = fmt::format("re:(?:{}).*", pattern.substr(3));
  stay(details, std::move(patterns));
  auto groups = groups_of(q);
  for (CheckpointGroup& group : groups)
    for (std::string& target : group.targets)
      if (target.starts_with("re:")) target = fmt::format("re:(?:{}).*", target.substr(3));
  const auto main = main_group(groups);
  const CheckpointGroup head{main ? groups[*main].scheme : "", {std::string(output_head)}};
  add_groups(std::move(groups), details);
  if (main) details.groups.push_back(head);
}

std::string modelopt_scheme(const Config& q) {
  if (q.has("quantization")) return modelopt_scheme(q.section("quantization"));
  if (const auto groups = groups_of(q); !groups.empty()) return scheme_of(groups);
  if (lower(q.text({"quant_algo"}, "")) != "mixed_precision") return algorithm_scheme(q);
  const auto groups = layers_of(q);
  if (groups.empty())
    q.fail("quantized_layers", "missing or empty, and quant_algo is MIXED_PRECISION");
  return most_named(groups);
}

void modelopt_exceptions(const Config& q, const Config& file, CheckpointDetails& details) {
  if (q.has("quantization")) return modelopt_exceptions(q.section("quantization"), file, details);
  details.lacks_lists = true;
  for (const char* key : {"ignore", "exclude_modules"}) {
    details.lacks_lists = details.lacks_lists && !q.has(key);
    stay(details, q.texts({key}));
  }
  const bool listed = q.has("quantized_layers");  // the groups' modules, one by one
  details.lacks_lists = details.lacks_lists && !listed;
  if (auto groups = groups_of(q); !groups.empty()) {
    check_layers(q, groups);
    add_groups(std::move(groups), details);
  } else if (listed && lower(q.text({"quant_algo"}, "")) == "mixed_precision") {
    add_groups(layers_of(q), details);
  }
}

}  // namespace headroom::model
