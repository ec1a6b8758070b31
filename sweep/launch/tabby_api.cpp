// Command line of TabbyAPI, the server that exllamav3 names as its own.
#include <fmt/format.h>

#include <cmath>

#include "hardware/units.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "sweep/launch/script.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

/// Bits of keys and of values, "8,4"; "FP16" where both are in 16 bit.
std::string cache_mode(const model::Scenario& s) {
  const model::CachePrecision kv = model::cache_precision(s);
  const auto bits = [&](const Precision& format) { return s.runtime->cache.format(format)->word; };
  const std::string_view keys = bits(*kv.keys), values = bits(*kv.values);
  if (keys.empty() && values.empty()) return "FP16";
  if (keys.empty() || values.empty())
    throw std::invalid_argument("TabbyAPI has keys and values both in 16 bit or both in fewer");
  return fmt::format("{},{}", keys, values);
}

/// The folder of the weights, as a word of a shell, and a comment about their origin.
/// Source: exllamav3 1.6 README, convert.py -b; tabbyAPI docs/01.-Getting-Started.md, `download`.
std::pair<std::string, std::string> folder_of(const LaunchPoint& point) {
  const std::string_view name = short_model_name(point.model().name);
  if (point.scheme().name == point.model().checkpoint_scheme)
    return {shell_quoted(name),
            comment(fmt::format("python3 main.py download {}", point.model().name))};
  const std::string folder = fmt::format("{}-{}", name, point.scheme().name);
  const double bits = static_cast<double>(point.scheme().bits) / 1000;
  return {shell_quoted(folder),
          comment(fmt::format("The folder models/{} has the weights: of exllamav3's convert.py "
                              "-b {}, or a published copy.",
                              folder, bits)) +
              comment(fmt::format(
                  "A published copy: python3 main.py download ORG/{}-exl3 "
                  "--revision {}bpw --folder-name {}",
                  name,
                  bits == std::round(bits) ? fmt::format("{:.1f}", bits) : fmt::format("{}", bits),
                  folder))};
}

}  // namespace

/// Options: tabbyAPI docs/02.-Server-options.md, common/args.py. The cache is one pool in pages of
/// 256 tokens for all requests. Layers go to the cards in order (gpu_split_auto), unless the cards
/// divide matrices.
std::string tabby_api_script(const LaunchPoint& point) {
  const model::Scenario& s = point.scenario;
  if (s.gpu_budget != model::unlimited || s.gpu_share > 0)
    throw std::invalid_argument(
        "TabbyAPI fills the cards by itself and takes no --gpu-budget or --gpu-memory-utilization");
  const auto [folder, origin] = folder_of(point);
  EngineCommand command(*s.runtime, heading(point) +
                                        "# Start it in the folder of TabbyAPI, the server of "
                                        "exllamav3.\n" +
                                        origin + "exec python3 main.py");
  command.flag("--model-dir", "models");
  command.flag("--model-name", folder);
  constexpr Size page = 256;
  const Size tokens = round_up(s.cached_tokens(), page);
  command.flag("--max-seq-len", std::to_string(s.cached_tokens()));
  command.flag("--cache-size", std::to_string(tokens * s.batch));
  command.flag("--cache-mode", cache_mode(s));
  command.flag("--max-batch-size", std::to_string(s.batch));
  if (s.runtime->parallel.split == model::Split::tensors) command.flag("--tensor-parallel", "True");
  return command.text();
}

}  // namespace headroom::sweep
