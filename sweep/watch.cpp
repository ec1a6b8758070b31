#include "sweep/watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/quantity_text.hpp"

namespace headroom::sweep {
namespace {

struct Tool {
  std::string_view vendor, command, shows;
};
constexpr Tool tools[] = {
    {"nvidia", "nvidia-smi --query-gpu=index,memory.used,memory.total --format=csv -l 1",
     "memory.used"},
    {"amd", "watch -n 1 rocm-smi --showmeminfo vram", "VRAM Total Used Memory"},
    {"intel", "xpu-smi dump -d 0 -m 18", "GPU memory used"},
};

std::string between(Bytes low, Bytes expected, Bytes high) {
  return fmt::format("{} ({} to {})", to_text(expected), to_text(low), to_text(high));
}

}  // namespace

std::vector<std::string> watch_lines(const Machine& machine, const model::Runtime& runtime,
                                     const model::Estimate& e) {
  std::vector<std::string> lines;
  if (e.gpus_used > 0)
    for (const Tool& tool : tools)
      if (std::ranges::any_of(machine.devices,
                              [&](const Device& card) { return card.vendor == tool.vendor; }))
        lines.push_back(fmt::format("`{}`: {} of the most loaded card, expected {}", tool.command,
                                    tool.shows,
                                    between(e.gpu_bytes_low, e.gpu_bytes, e.gpu_bytes_high)));
  if (e.gpus_used > 0 && runtime.name == "transformers")
    lines.push_back(fmt::format(
        "`torch.cuda.max_memory_allocated()`, summed over cards: weights, KV cache and activations "
        "on them, at most {}",
        to_text(e.weights + e.kv_cache + e.activations)));
  if (e.cpu_bytes > Bytes(0))
    lines.push_back(fmt::format("`ps -o rss= -p PID` (KiB) of the process: RAM, expected {}",
                                to_text(e.cpu_bytes)));
  return lines;
}

}  // namespace headroom::sweep
