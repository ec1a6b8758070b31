#include "sweep/screen/watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/quantity_text.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/placement/cache_room.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

using model::DeviceUse;

/// Tools that show the memory of a maker's cards, and PyTorch's count of its own tensors.
struct Tool {
  std::string_view vendor, command, shows, torch;
};
constexpr std::string_view of_process = "footprint -p PID";
constexpr Tool tools[] = {
    {"nvidia", "nvidia-smi --query-gpu=index,memory.used,memory.total --format=csv -l 1",
     "memory.used", "torch.cuda.max_memory_allocated()"},
    {"amd", "watch -n 1 rocm-smi --showmeminfo vram", "VRAM Total Used Memory",
     "torch.cuda.max_memory_allocated()"},
    {"intel", "xpu-smi dump -d 0 -m 18", "GPU memory used", "torch.xpu.max_memory_allocated()"},
    {"apple", of_process, "", "torch.mps.current_allocated_memory()"},
};

/// Log line in which an engine that reserves memory reports its cache size.
struct PoolLog {
  std::string_view engine, tokens;
};
constexpr PoolLog logs[] = {
    {"vllm", "GPU KV cache size: … tokens"},
    {"sglang", "max_total_num_tokens=…"},
    {"tensorrt-llm", "Allocated … GiB for max tokens in paged KV cache (…)"},
};

std::string between(Bytes low, Bytes expected, Bytes high) {
  return fmt::format("{} ({} to {})", to_text(expected), to_text(low), to_text(high));
}

Bytes max_on_card(const model::Explanation& explained, Bytes DeviceUse::*figure) {
  Bytes most{0};
  for (const DeviceUse& use : explained.devices)
    if (use.where == model::Where::card) most = std::max(most, use.*figure);
  return most;
}

Bytes of_tensors(const model::Explanation& explained) {
  Bytes sum{0};
  for (const DeviceUse& use : explained.devices)
    if (use.where == model::Where::card) sum += use.weights + use.kv_cache + use.activations;
  return sum;
}

std::optional<model::CacheRoom> room_of(const model::Scenario& running) {
  return model::cache_room(running, model::place(running, 1.0));
}

std::string card_line(const Tool& tool, const model::Scenario& s,
                      const model::Explanation& explained) {
  const model::Estimate& e = explained.estimate;
  if (tool.command == of_process)
    return fmt::format("`{}`: memory of the process, the GPU's share included, expected {}",
                       tool.command,
                       between(e.gpu_bytes_low + e.cpu_bytes, e.gpu_bytes + e.cpu_bytes,
                               e.gpu_bytes_high + e.cpu_bytes));
  if (s.runtime->memory.sets_aside())
    return fmt::format(
        "`{}`: {} shows the {} that {} reserves on a card at start, not the expected need of {}",
        tool.command, tool.shows, to_text(max_on_card(explained, &DeviceUse::reserved)),
        s.runtime->name, to_text(e.gpu_bytes));
  return fmt::format("`{}`: {} of the most loaded card, expected {}", tool.command, tool.shows,
                     between(e.gpu_bytes_low, e.gpu_bytes, e.gpu_bytes_high));
}

}  // namespace

std::vector<std::string> watch_lines(const model::Scenario& s,
                                     const model::Explanation& explained) {
  const model::Estimate& e = explained.estimate;
  std::vector<std::string> lines;
  bool all_of_process = false;
  const auto tensors = [&](const Tool& tool) {
    if (s.runtime->family == "transformers")
      lines.push_back(fmt::format(
          "`{}`, summed over cards: weights, KV cache and activations on them, at most {}",
          tool.torch, to_text(of_tensors(explained))));
  };
  for (const Tool& tool : tools) {
    if (e.gpus_used == 0 || std::ranges::none_of(s.machine->devices, [&](const Device& card) {
          return card.vendor == tool.vendor;
        }))
      continue;
    lines.push_back(card_line(tool, s, explained));
    all_of_process = all_of_process || tool.command == of_process;
    tensors(tool);
  }
  if (e.gpus_used > 0 && lines.empty()) tensors(tools[0]);
  const auto log = std::ranges::find(logs, s.runtime->family, &PoolLog::engine);
  if (e.gpus_used > 0 && log != std::end(logs))
    if (const auto room = room_of(model::admitted_scenario(s)); room && room->blocks > 0)
      lines.push_back(
          fmt::format("\"{}\" in its log: room for the KV cache after weights and activations, "
                      "expected {} tokens in {}",
                      log->tokens, grouped(room->tokens), to_text(room->available)));
  if (e.cpu_bytes > Bytes(0) && !all_of_process)
    lines.push_back(fmt::format("`ps -o rss= -p PID` (KiB) of the process: RAM, expected {}",
                                to_text(e.cpu_bytes)));
  return lines;
}

}  // namespace headroom::sweep
