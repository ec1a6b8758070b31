// headroom place MODEL --max-memory …: the device map that accelerate or transformers would make,
// without loading a thing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>

#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "model/answer/placement/strategy.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/describe/layer_numbers.hpp"
#include "model/infer/placement/mapper.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/options/flags.hpp"
#include "sweep/options/model_options.hpp"
#include "sweep/output.hpp"
#include "sweep/place/place.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

using namespace model;

constexpr std::string_view understood = " precision max-memory " HEADROOM_MAPPER_FLAGS
                                        " " HEADROOM_MODEL_FLAGS " hub-token offline format out ";

/// The request, resolved.
struct Request {
  Model model;
  std::string dtype;
  ModuleTree tree;
  MaxMemory given, balanced;
  MapOptions options;
};

/// The type that a checkpoint of plain weights is loaded in: 16 bit, unless the config says fp32.
/// accelerate counts a quantised model in 16 bit too, where it is not told otherwise.
std::string default_dtype(const Model& model) {
  return model.checkpoint_scheme == "fp32" ? "float32" : "float16";
}

/// The modules with their sizes in `dtype`, or as the checkpoint's own quantisation holds them.
ModuleTree tree_of(const Model& model, const std::string& dtype, Mapper mapper) {
  if (dtype == model.checkpoint_scheme && is_quantised(model)) {
    const QuantisedModel weights = quantise(model, scheme(dtype));
    if (!weights.refusal.empty()) throw UsageError(weights.refusal);
    return held_tree(weights);
  }
  const auto element = mapper_dtype(dtype);
  // transformers measures the model as it is loaded; accelerate casts sizes of a float32 model.
  const bool as_loaded = mapper == Mapper::transformers;
  return {model.part, as_loaded ? std::nullopt : element,
          as_loaded && element ? element->element : 32,
          as_loaded ? Counting::transformers : Counting::accelerate};
}

Request request_of(const Options& options, const std::string& name) {
  Model model = resolve_model(name, Hub(hub_flags(options)));
  std::string dtype = options.text("precision", default_dtype(model));
  if (lower(dtype) == "auto")
    dtype = is_quantised(model) ? model.checkpoint_scheme : default_dtype(model);
  if (!options.given("precision") && is_quantised(model))
    model.assumed.push_back(
        fmt::format("weights in {} although the checkpoint holds {}: --precision auto takes them "
                    "as they are held",
                    dtype, model.checkpoint_scheme));
  const MapOptions map = map_options(options, model);
  ModuleTree tree = tree_of(model, dtype, map.mapper);
  return {std::move(model),
          std::move(dtype),
          std::move(tree),
          parse_max_memory(options.texts("max-memory")),
          {},
          map};
}

report::Table as_table(const Request& request, const DeviceMap& map) {
  report::Table table{{"module", "device", "bytes"}, {}};
  for (const auto& [path, device] : map)
    table.rows.push_back({path, device, (request.tree.size(request.tree.find(path)) + 7) / 8});
  return table;
}

std::string as_text(const Request& request, const DeviceMap& map) {
  const bool accelerate = request.options.mapper == Mapper::accelerate;
  std::string text = fmt::format(
      "Model    {} ({}), {} bytes in {}\nMapper   {}\nUnsplit  {}\n\n", request.model.name,
      request.model.architecture, grouped(request.tree.size(0) / 8), request.dtype,
      accelerate ? "accelerate 1.15.0 infer_auto_device_map" : "transformers 5.23.0 device_map",
      request.options.no_split.empty()
          ? "none"
          : fmt::format("{}", fmt::join(request.options.no_split, ", ")));
  if (!request.model.assumed.empty())
    text.insert(text.find("Mapper"),
                fmt::format("Assumes  {}\n", fmt::join(request.model.assumed, ", ")));
  std::vector<std::vector<std::string>> rows;
  for (const Share& share : shares_of(request.model, request.tree, request.balanced, map)) {
    if (share.device == "disk" && share.modules == 0) continue;
    rows.push_back({share.device, model::layer_words(request.model.profile, share.layers),
                    to_text(Bytes(share.bytes8 / 8)),
                    share.device == "disk" ? "unlimited" : to_text(Bytes(share.limit / 8)),
                    share.device == "disk" ? ""
                                           : bar(static_cast<double>(share.bytes8),
                                                 static_cast<double>(share.limit))});
  }
  text += aligned({"device", "layers", "held", "max_memory", ""}, {false, false, true, true, false},
                  rows);
  text += "\n";
  for (const auto& [path, device] : map)
    text += fmt::format("{:<10}{}\n", device, path.empty() ? "(the whole model)" : path);
  if (request.model.model_type == "custom") return text;
  text += fmt::format("\nNote: {}.\n", names_note(request.model, map));
  return text;
}

/// The smallest budget of the first device, in steps of 2 %, at which accelerate does not fail.
std::string what_would_work(const Request& request, const Options& options) {
  if (request.balanced.empty())
    return "leave disk= out, which is unlimited with and without it, or use --policy sequential";
  for (int percent = 102; percent <= 400; percent += 2) {
    MaxMemory more = request.given;
    more[0].limit = more[0].limit / 100 * percent;
    try {
      infer_device_map(
          request.tree,
          balanced_memory(request.tree, more, policy_of(options, "auto"), request.options),
          request.options);
      return fmt::format("with {}={} it works", more[0].device, to_text(Bytes(more[0].limit / 8)));
    } catch (const AccelerateFails&) {
    }
  }
  return "leave the tied modules room on one device, or use --mapper transformers";
}

/// Options that say nothing to a map of raw budgets.
void refuse_scenario(const Options& options) {
  for (const Flag& flag : flags())
    if (options.given(flag.name) &&
        understood.find(fmt::format(" {} ", flag.name)) == std::string_view::npos)
      throw UsageError(fmt::format(
          "--{} has no effect with --max-memory, which is raw budgets of weights and buffers; "
          "leave --max-memory out for strategies on a machine",
          flag.name));
}

}  // namespace

int place_by_map(const Options& options) {
  const std::string name = model_given(options);
  refuse_scenario(options);
  const Format format = format_of(options);
  Request request = request_of(options, name);
  DeviceMap map;
  try {
    request.balanced =
        balanced_memory(request.tree, request.given, policy_of(options, "auto"), request.options);
    map = infer_device_map(request.tree, request.balanced, request.options);
  } catch (const AccelerateFails& failure) {
    fmt::print(stderr, "headroom: {}; {}\n", failure.what(), what_would_work(request, options));
    return answer_is_no;
  }
  if (format == Format::text)
    emit(options, as_text(request, map));
  else if (format == Format::json || format == Format::jsonl)
    emit(options, pretty(map_object(request.model, request.tree, request.balanced, map)));
  else
    emit(options, formatted(as_table(request, map), format));
  return done;
}

}  // namespace headroom::sweep
