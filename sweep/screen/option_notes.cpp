#include "sweep/screen/option_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/layer_split.hpp"

namespace headroom::sweep {
namespace {

using model::Estimate;
using model::Scenario;

/// Options about the CPU's part that change no figure: all layers run on cards, or threads exceed
/// cores.
std::optional<std::string> idle_options(const Scenario& s, const Estimate& e) {
  if (!model::is_on_gpus(e)) {
    const int cores = s.machine->host.cores;
    if (s.threads <= cores) return std::nullopt;
    return fmt::format("--threads {} is as fast as {}: the CPU has no more cores", s.threads,
                       cores);
  }
  std::vector<std::string> idle;
  if (s.threads > 0) idle.push_back("--threads");
  if (!s.maps_files) idle.push_back("--no-mmap");
  if (idle.empty()) return std::nullopt;
  return fmt::format("{} {} no effect here: no layer runs on the CPU", fmt::join(idle, " and "),
                     idle.size() == 1 ? "has" : "have");
}

/// llama.cpp fits no layers where tensors are placed by hand. Source: common/fit.cpp,
/// "tensor_buft_overrides already set by user, abort"; all layers go to the cards then.
std::optional<std::string> unfitted_layers(const Scenario& s, const Estimate& e) {
  const model::LayerSplit* split = s.layer_split;
  if (split == nullptr || split->gpu_layers >= 0 || split->on_host.matched == 0)
    return std::nullopt;
  const model::Engine& engine = *s.runtime;
  const bool fits_itself =
      engine.memory.leaves_margin() && engine.offload.mode == model::Offload::compute;
  if (!fits_itself || !model::uses_a_gpu(e) || place(s, 1.0).on_cpu.size() == 0)
    return std::nullopt;
  return fmt::format(
      "{} fits no layers by itself where tensors are placed by hand: without -ngl all go to the "
      "cards; `launch` writes the -ngl of this answer",
      engine.name);
}

}  // namespace

std::vector<std::string> option_notes(const Scenario& s, const Estimate& e) {
  std::vector<std::string> notes;
  if (auto idle = idle_options(s, e)) notes.push_back(std::move(*idle));
  if (auto layers = unfitted_layers(s, e)) notes.push_back(std::move(*layers));
  return notes;
}

}  // namespace headroom::sweep
