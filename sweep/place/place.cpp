// Shared parts of `headroom place` with and without a machine: options of the mapper, and a map by
// device.
#include "sweep/place/place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>

#include "model/describe/layer_numbers.hpp"

namespace headroom::sweep {

namespace json = boost::json;
using namespace model;

namespace {

std::vector<std::string> classes_of(const std::string& names) {
  std::vector<std::string> classes;
  for (std::size_t at = 0; names != "none" && at <= names.size();) {
    const std::size_t comma = std::min(names.find(',', at), names.size());
    classes.push_back(names.substr(at, comma - at));
    at = comma + 1;
  }
  return classes;
}

json::value device_value(const std::string& device) {
  if (device[0] >= '0' && device[0] <= '9') return std::stoll(device);
  return json::string(device);
}

}  // namespace

MapOptions map_options(const Options& options, const Model& model) {
  static constexpr std::string_view mappers[] = {"accelerate", "transformers"};
  MapOptions map;
  if (options.one_of("mapper", mappers, "accelerate") == "transformers")
    map.mapper = Mapper::transformers;
  map.no_split = model.part.no_split;
  if (options.given("no-split")) {
    map.no_split = classes_of(options.text("no-split"));
    for (const std::string& name : map.no_split)
      if (std::none_of(model.part.modules.begin(), model.part.modules.end(),
                       [&](const Module& m) { return m.class_name == name; }))
        throw UsageError(
            fmt::format("--no-split: {} has no module of class '{}'; its layers are {}", model.name,
                        name, fmt::join(model.part.no_split, ", ")));
  }
  if (options.given("fallback-allocation")) {
    if (map.mapper == Mapper::transformers)
      throw UsageError("--fallback-allocation: transformers' mapper has none");
    map.fallback = Fallback::yes;
  }
  if (options.given("no-clean")) map.clean = Clean::no;
  return map;
}

Policy policy_of(const Options& options, std::string_view fallback) {
  static constexpr std::string_view names[] = {"plain", "sequential", "auto", "balanced",
                                               "balanced_low_0"};
  const std::string name = options.one_of("policy", names, fallback);
  if (name == "plain" || name == "sequential") return Policy::plain;
  return name == "balanced_low_0" ? Policy::balanced_low_0 : Policy::balanced;
}

std::vector<Share> shares_of(const Model& model, const ModuleTree& tree, const MaxMemory& memory,
                             const DeviceMap& map) {
  std::vector<Share> shares;
  for (const DeviceMemory& device : memory)
    shares.push_back({.device = device.device, .limit = device.limit, .layers = {}});
  for (const auto& [path, device] : map) {
    Share& share = *std::find_if(shares.begin(), shares.end(),
                                 [&](const Share& s) { return s.device == device; });
    const Size at = tree.find(path);
    share.bytes8 += tree.size(at);
    ++share.modules;
    const auto& blocks = model.part.blocks;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const Size block = tree.find(blocks[i]);
      if (block >= at && block < tree.node(at).end) share.layers.push_back(static_cast<Size>(i));
    }
  }
  for (Share& share : shares) std::sort(share.layers.begin(), share.layers.end());
  return shares;
}

json::object map_object(const Model& model, const ModuleTree& tree, const MaxMemory& memory,
                        const DeviceMap& map) {
  json::object device_map, max_memory, bytes, layers;
  for (const auto& [path, device] : map) device_map[path] = device_value(device);
  for (const DeviceMemory& device : memory)
    if (device.device != "disk") max_memory[device.device] = device.limit / 8;
  for (const Share& share : shares_of(model, tree, memory, map)) {
    if (share.modules == 0) continue;
    bytes[share.device] = (share.bytes8 + 7) / 8;
    layers[share.device] = model::layer_words(model.profile, share.layers);
  }
  return {{"device_map", std::move(device_map)},
          {"max_memory", std::move(max_memory)},
          {"bytes", std::move(bytes)},
          {"layers", std::move(layers)}};
}

std::string names_note(const Model& model, const DeviceMap& map) {
  const std::string_view since = names_since(model, map);
  const std::string versions =
      since.empty() ? "transformers 5.23; other versions were not checked"
      : since == "5.23"
          ? "transformers 5.23; older versions have other module names, or not this class"
          : fmt::format(
                "transformers {} to 5.23{}", since,
                since == "4.46.3" ? "" : "; older ones have other module names, or not this class");
  std::string note = "the names are those of " + versions;
  if (names_fused_experts(model, map))
    note += "; an entry lies inside the fused experts, which were modules of their own before 5";
  else if (model.profile.routing.experts > 0)
    note += "; none lies inside a layer's experts, which 5 fuses";
  return note;
}

}  // namespace headroom::sweep
