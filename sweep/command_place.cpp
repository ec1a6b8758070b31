// headroom place: the device map that accelerate or transformers would make, without loading a
// thing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "hardware/quantity_text.hpp"
#include "model/mapper.hpp"
#include "sweep/command.hpp"
#include "sweep/hub.hpp"
#include "sweep/model_options.hpp"
#include "sweep/output.hpp"
#include "sweep/source.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using namespace model;

/// What was asked for, resolved.
struct Request {
  Model model;
  std::string dtype;
  ModuleTree tree;
  MaxMemory given, balanced;
  MapOptions options;
};

/// What one device gets.
struct Share {
  std::string device;
  Eighths bytes8 = 0, limit = 0;
  std::vector<Size> layers;  ///< indices of whole repeated blocks, in order
  Size modules = 0;          ///< entries of the map
};

/// The type that the checkpoint is loaded in: 16 bit, unless the config says fp32.
std::string default_dtype(const Model& model) {
  return model.checkpoint_scheme == "fp32" ? "float32" : "float16";
}

MapOptions map_options(const Options& options, const Model& model) {
  static constexpr std::string_view mappers[] = {"accelerate", "transformers"};
  MapOptions map;
  if (options.one_of("mapper", mappers, "accelerate") == "transformers")
    map.mapper = Mapper::transformers;
  map.no_split = model.part.no_split;
  if (options.given("no-split")) {
    map.no_split.clear();
    const std::string names = options.text("no-split");
    for (std::size_t at = 0; names != "none" && at <= names.size();) {
      const std::size_t comma = std::min(names.find(',', at), names.size());
      map.no_split.push_back(names.substr(at, comma - at));
      at = comma + 1;
    }
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

Policy policy_of(const Options& options) {
  static constexpr std::string_view names[] = {"plain", "sequential", "auto", "balanced",
                                               "balanced_low_0"};
  const std::string name = options.one_of("policy", names, "auto");
  if (name == "plain" || name == "sequential") return Policy::plain;
  return name == "balanced_low_0" ? Policy::balanced_low_0 : Policy::balanced;
}

Request request_of(const Options& options, const std::string& name) {
  Model model = resolve_model(name, Hub(hub_flags(options)));
  std::string dtype = options.text("precision", default_dtype(model));
  const MapOptions map = map_options(options, model);
  const auto element = mapper_dtype(dtype);
  // transformers measures the model as it is loaded; accelerate casts sizes of a float32 model.
  const bool as_loaded = map.mapper == Mapper::transformers;
  ModuleTree tree(model.part, as_loaded ? std::nullopt : element,
                  as_loaded && element ? element->element : 32);
  const auto entries = options.texts("max-memory");
  if (entries.empty())
    throw UsageError("how much may each device hold? --max-memory 0=6GiB --max-memory cpu=25GiB");
  MaxMemory given = parse_max_memory(entries);
  MaxMemory balanced = balanced_memory(tree, given, policy_of(options), map);
  return {std::move(model), std::move(dtype),    std::move(tree),
          std::move(given), std::move(balanced), map};
}

std::vector<Share> shares_of(const Request& request, const DeviceMap& map) {
  std::vector<Share> shares;
  for (const DeviceMemory& device : request.balanced)
    shares.push_back({.device = device.device, .limit = device.limit, .layers = {}});
  const auto share = [&](const std::string& device) -> Share& {
    return *std::find_if(shares.begin(), shares.end(),
                         [&](const Share& s) { return s.device == device; });
  };
  for (const auto& [path, device] : map) {
    Share& s = share(device);
    const Size at = request.tree.find(path);
    s.bytes8 += request.tree.node(at).size;
    ++s.modules;
    const auto& blocks = request.model.part.blocks;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const Size block = request.tree.find(blocks[i]);
      if (block >= at && block < request.tree.node(at).end)
        s.layers.push_back(static_cast<Size>(i));
    }
  }
  for (Share& s : shares) std::sort(s.layers.begin(), s.layers.end());
  return shares;
}

/// "0-12, 14".
std::string ranges(const std::vector<Size>& layers) {
  std::string text;
  for (std::size_t i = 0; i < layers.size();) {
    std::size_t j = i;
    while (j + 1 < layers.size() && layers[j + 1] == layers[j] + 1) ++j;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", layers[i]);
    if (j > i) text += fmt::format("-{}", layers[j]);
    i = j + 1;
  }
  return text;
}

json::value device_value(const std::string& device) {
  if (device[0] >= '0' && device[0] <= '9') return std::stoll(device);
  return json::string(device);
}

std::string as_json(const Request& request, const DeviceMap& map) {
  json::object device_map, max_memory, bytes, layers;
  for (const auto& [path, device] : map) device_map[path] = device_value(device);
  for (const DeviceMemory& device : request.balanced)
    if (device.device != "disk") max_memory[device.device] = device.limit / 8;
  for (const Share& share : shares_of(request, map)) {
    if (share.modules == 0) continue;
    bytes[share.device] = (share.bytes8 + 7) / 8;
    layers[share.device] = ranges(share.layers);
  }
  return pretty(json::object{{"device_map", std::move(device_map)},
                             {"max_memory", std::move(max_memory)},
                             {"bytes", std::move(bytes)},
                             {"layers", std::move(layers)}});
}

report::Table as_table(const Request& request, const DeviceMap& map) {
  report::Table table{{"module", "device", "bytes"}, {}};
  for (const auto& [path, device] : map)
    table.rows.push_back({path, device, (request.tree.node(request.tree.find(path)).size + 7) / 8});
  return table;
}

/// A bar of 30 characters, as full as the device's limit; disk has none.
std::string bar(const Share& share) {
  if (share.device == "disk" || share.limit == 0) return {};
  const auto filled = static_cast<std::size_t>(30.0 * static_cast<double>(share.bytes8) /
                                               static_cast<double>(share.limit));
  return std::string(std::min<std::size_t>(filled, 30), '#') +
         std::string(30 - std::min<std::size_t>(filled, 30), '.');
}

std::string as_text(const Request& request, const DeviceMap& map) {
  const bool accelerate = request.options.mapper == Mapper::accelerate;
  std::string text = fmt::format(
      "Model    {} ({}), {} bytes in {}\nMapper   {}\nUnsplit  {}\n\n", request.model.name,
      request.model.architecture, grouped(request.tree.node(0).size / 8), request.dtype,
      accelerate ? "accelerate 1.15.0 infer_auto_device_map" : "transformers 5.23.0 device_map",
      request.options.no_split.empty()
          ? "none"
          : fmt::format("{}", fmt::join(request.options.no_split, ", ")));
  if (!request.model.assumed.empty())
    text.insert(text.find("Mapper"),
                fmt::format("Assumes  {}\n", fmt::join(request.model.assumed, ", ")));
  std::vector<std::vector<std::string>> rows;
  for (const Share& share : shares_of(request, map)) {
    if (share.device == "disk" && share.modules == 0) continue;
    rows.push_back({share.device, ranges(share.layers), to_text(Bytes(share.bytes8 / 8)),
                    share.device == "disk" ? "unlimited" : to_text(Bytes(share.limit / 8)),
                    bar(share)});
  }
  text += aligned({"device", "layers", "held", "max_memory", ""}, {false, false, true, true, false},
                  rows);
  text += "\n";
  for (const auto& [path, device] : map)
    text += fmt::format("{:<10}{}\n", device, path.empty() ? "(the whole model)" : path);
  const auto& tensors = request.model.part.tensors;
  const bool fused =
      std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.of > 1; });
  if (request.model.model_type == "custom") return text;
  text += fmt::format("\nThe names are those of transformers 5 (5.23){}.\n",
                      fused ? "; before 5 each expert was a module of its own" : "");
  return text;
}

/// The smallest budget of the first device, in steps of 2 %, at which accelerate does not fail.
std::string what_would_work(const Request& request, const Options& options) {
  for (int percent = 102; percent <= 400; percent += 2) {
    MaxMemory more = request.given;
    more[0].limit = more[0].limit / 100 * percent;
    try {
      infer_device_map(request.tree,
                       balanced_memory(request.tree, more, policy_of(options), request.options),
                       request.options);
      return fmt::format("with {}={} it works", more[0].device, to_text(Bytes(more[0].limit / 8)));
    } catch (const AccelerateFails&) {
    }
  }
  return "leave the tied modules room on one device, or use --mapper transformers";
}

int run(const Options& options) {
  const std::string name = model_given(options);
  const Format format = format_of(options);
  const Request request = request_of(options, name);
  DeviceMap map;
  try {
    map = infer_device_map(request.tree, request.balanced, request.options);
  } catch (const AccelerateFails& failure) {
    fmt::print(stderr, "headroom: {}; {}\n", failure.what(), what_would_work(request, options));
    return answer_is_no;
  }
  if (format == Format::text)
    emit(options, as_text(request, map));
  else if (format == Format::json || format == Format::jsonl)
    emit(options, as_json(request, map));
  else
    emit(options, formatted(as_table(request, map), format));
  return done;
}

}  // namespace

const Command place_command = {
    {.name = "place",
     .summary = "the device map that accelerate or transformers would make",
     .operands = "MODEL",
     .flags = HEADROOM_MODEL_FLAGS
     " precision max-memory mapper policy no-split fallback-allocation no-clean "
     "hub-token offline format out",
     .examples = "headroom place facebook/opt-30b --max-memory 0=6GiB --max-memory cpu=25GiB\n"
                 "headroom place llama2-7b --dtype float16 --policy balanced --max-memory 0=8GB "
                 "--max-memory 1=8GB --max-memory cpu=30GB --format json",
     .columns =
         "device_map: module path to GPU number, cpu or disk (json: as from_pretrained takes)\n"
         "max_memory: what each device may hold, after balancing, bytes\n"
         "bytes: what it holds\nlayers: repeated blocks wholly on it",
     .exit_codes =
         "0 done\n1 failed: a file, a config or an output that cannot be read or written\n"
         "2 usage: an option or a name that is not understood\n"
         "3 accelerate itself fails on this model and these budgets"},
    run};

}  // namespace headroom::sweep
