// torchao: a configuration for all linear layers, or one for each of some modules.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "hardware/names.hpp"
#include "model/checkpoint/checkpoint_methods.hpp"

namespace headroom::model {
namespace {

constexpr std::string_view of_modules[] = {"FqnToConfig", "ModuleFqnToConfig"};

/// "PerGroup 32", "PerRow": how many weights have a common scale. Lists have a second one for
/// activations, which torchao wants to be the same.
std::string granularity(const Config& data, std::string_view key, std::string_view otherwise) {
  if (!data.has(key)) return std::string(otherwise);
  const boost::json::value& value = data.object().at(key);
  const bool listed = value.is_array() && !value.get_array().empty();
  if (listed && !value.get_array().front().is_object())
    data.fail(key, "expected a section with the key _type, or a list of them");
  const Config found =
      listed ? Config(value.get_array().front().as_object(), data.origin()) : data.section(key);
  const std::string type = found.text({"_type"});
  const Config inner = found.section_or_empty("_data");
  const Size group = inner.count({"group_size"}, 0);
  if (inner.number({"axis"}, 0) != 0) inner.fail("axis", "expected 0, one scale a row");
  if (inner.number({"dim"}, -1) != -1) inner.fail("dim", "expected -1, one scale a row");
  return group > 0 ? fmt::format("{} {}", type, group) : type;
}

/// A word of an enumeration, which is a text, or a section {"_type": …, "_data": …}.
std::string word(const Config& data, std::string_view key, std::string_view otherwise) {
  if (!data.has(key) || !data.object().at(key).is_object())
    return lower(data.text({key}, otherwise));
  const Config section = data.section(key);
  section.has("_type");  // each key has one type
  return lower(section.text({"_data"}));
}

std::string row_or_matrix(const Config& data, std::string_view otherwise) {
  const std::string found = granularity(data, "granularity", otherwise);
  if (found == "PerRow") return "fp8-channel-fp32";
  if (found == "PerTensor") return "fp8";
  data.fail("granularity", fmt::format("found '{}', expected PerRow or PerTensor", found));
}

std::string int8_by_row(const Config& data) {
  if (data.has("group_size")) data.fail("group_size", "expected null: groups are not described");
  if (const std::string found = granularity(data, "granularity", "PerRow"); found != "PerRow")
    data.fail("granularity", fmt::format("found '{}', expected PerRow", found));
  return "torchao-int8";
}

/// Integers of up to 8 bits, a byte each, with a 16-bit scale and a zero point for each group.
std::string byte_scheme(const Config& data, std::string_view key) {
  const std::string packing = word(data, "intx_packing_format", "unpacked_to_int8");
  if (packing != "unpacked_to_int8")
    data.fail("intx_packing_format",
              fmt::format("found '{}', whose layout is not described; expected unpacked_to_int8",
                          packing));
  const std::string found = granularity(data, key, "PerAxis");
  for (const Size group : {32, 64, 128, 256})
    if (found == fmt::format("PerGroup {}", group))
      return with_group("torchao-byte", data, static_cast<double>(group), key);
  if (found == "PerAxis" || found == "PerRow") return "torchao-byte-nogroup";
  data.fail(key,
            fmt::format("found '{}', expected PerAxis, or PerGroup of 32, 64, 128 or 256", found));
}

struct TorchaoType {
  std::string_view name;
  std::string (*scheme)(const Config& data);
};
constexpr TorchaoType torchao_types[] = {
    {"Int4WeightOnlyConfig",
     [](const Config& data) {
       const Size group = data.count({"group_size"}, 128);
       const std::string packing = word(data, "int4_packing_format", "plain");
       const bool tiles = packing == "tile_packed_to_4d";
       if (!tiles && packing != "plain" && packing != "plain_int32")
         data.fail("int4_packing_format",
                   fmt::format("found '{}', whose layout is not described; expected plain, "
                               "plain_int32 or tile_packed_to_4d",
                               packing));
       const auto name = with_group("torchao-int4", data, static_cast<double>(group), "group_size");
       return tiles ? name + "-tiles" : name;
     }},
    {"Int8WeightOnlyConfig", int8_by_row},
    {"Int8DynamicActivationInt8WeightConfig", int8_by_row},
    {"Float8WeightOnlyConfig", [](const Config& data) { return row_or_matrix(data, "PerRow"); }},
    {"Float8DynamicActivationFloat8WeightConfig",
     [](const Config& data) { return row_or_matrix(data, "PerTensor"); }},
    {"Int8DynamicActivationIntxWeightConfig",
     [](const Config& data) { return byte_scheme(data, "weight_granularity"); }},
    {"IntxWeightOnlyConfig", [](const Config& data) { return byte_scheme(data, "granularity"); }},
};

/// The scheme of a module's configuration, {"_type": …, "_version": 2, "_data": {…}}.
std::string module_scheme(const Config& section) {
  const std::string found = section.text({"_type"});
  std::string known;
  for (const TorchaoType& type : torchao_types) {
    known += (known.empty() ? "" : ", ") + std::string(type.name);
    if (type.name != found) continue;
    // The first version of tensors is pickled with their classes.
    if (const Size version = section.count({"_version"}, 1); version != 2)
      section.fail("_version",
                   fmt::format("found {}, whose layout is not described; expected 2", version));
    return type.scheme(section.section_or_empty("_data"));
  }
  section.fail("_type", fmt::format("found '{}', whose layout is not described; expected one of {}",
                                    found, known));
}

/// The configuration of all modules.
Config configuration(const Config& q) {
  const Config all = q.section("quant_type");
  return all.has("default") ? all.section("default") : all;
}

/// Configurations by module; null: one for all.
std::optional<Config> by_module(const Config& q) {
  const Config all = configuration(q);
  const std::string type = all.text({"_type"});
  if (std::ranges::find(of_modules, type) == std::end(of_modules)) return std::nullopt;
  const Config data = all.section("_data");
  const bool renamed = data.has("fqn_to_config"), old = data.has("module_fqn_to_config");
  if (!renamed && !old) data.fail("fqn_to_config", "missing");
  return data.section(renamed ? "fqn_to_config" : "module_fqn_to_config");
}

}  // namespace

std::string torchao_scheme(const Config& q) {
  const std::optional<Config> modules = by_module(q);
  if (!modules) return module_scheme(configuration(q));
  return modules->has("_default") ? module_scheme(modules->section("_default")) : "bf16";
}

/// Modules that modules_to_not_convert lists stay; a list replaces the head, which stays without
/// one. include_input_output_embeddings converts the head; the embedding is written in 16 bit. Then
/// names decide before expressions, and these before the default. Sources: transformers 5.24
/// quantizers/quantizer_torchao.py; torchao 0.18 quantization/quant_api.py, FqnToConfig and
/// _fqn_to_config_handler.
void torchao_exceptions(const Config& q, const Config&, CheckpointDetails& details) {
  const std::string own = torchao_scheme(q);
  const bool head_too = q.flag({"include_input_output_embeddings"}, false);
  if (q.flag({"untie_embedding_weights"}, false))
    q.fail("untie_embedding_weights", "true: a head beside a tied embedding is not described");
  std::vector<std::string> listed;
  for (const std::string& entry : q.texts({"modules_to_not_convert"}))
    add_not_converted(listed, entry, true);
  stay(details, std::move(listed));
  if (const std::optional<Config> modules = by_module(q)) {
    SchemesByRule schemes;
    for (const bool expressions : {false, true})
      for (const auto& [name, value] : modules->object()) {
        const std::string_view module = name;
        if (module == "_default" || module.starts_with("re:") != expressions) continue;
        add_rule(details,
                 schemes.of(value,
                            [&]() -> std::string {
                              return modules->has(module) ? module_scheme(modules->example(module))
                                                          : "bf16";
                            }),
                 std::string(module));
      }
  }
  if (q.has("modules_to_not_convert") || head_too)
    details.groups.push_back({own, {std::string(output_head)}});
}

}  // namespace headroom::model
