// A Slurm job, and the script that measures whether the estimate was right.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "sweep/launch/launch.hpp"
#include "sweep/launch/script.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/verdict_text.hpp"

namespace headroom::sweep {
namespace {

/// Cores of a box: all where the CPU computes layers, else four a card to load and tokenise.
Size cores(const LaunchPoint& point, const Boxes& boxes) {
  const model::Scenario& s = point.scenario;
  const Size all = std::max<Size>(1, s.machine->host.cores / std::max(1, s.machine->host.boxes));
  const bool computes = point.estimate().verdict > model::Verdict::fits_gpus &&
                        s.runtime->offload.mode == model::Offload::compute;
  if (computes || s.machine->devices.empty()) return all;
  return std::clamp<Size>(4 * boxes.cards, 1, all);
}

/// Published checkpoints are in files of at most 5 GB, of which one is read at a time.
/// Source: transformers 4.57 modeling_utils.py, save_pretrained: max_shard_size.
constexpr Bytes usual_file{Size{5'000'000'000}};

/// GiB of host memory to ask for in a box, a tenth more than is held. There are what the estimate
/// has there, a file that is being read, and a process for each card of engines that have one.
Size host_gib(const LaunchPoint& point, const Boxes& boxes) {
  const model::Scenario& s = point.scenario;
  const model::Estimate& e = point.estimate();
  RealBytes held = e.cpu_bytes.real() + std::min(usual_file, e.weights).real();
  if (s.runtime->parallel.split == model::Split::tensors)
    held += static_cast<double>(std::max<Size>(1, boxes.cards) - 1) *
            RealBytes(s.runtime->memory.host_bytes.value);
  const auto asked = static_cast<Size>(std::ceil(1.1 * held.value() / GiB));
  const auto of_box =
      static_cast<Size>(real_count(s.machine->host.ram) / std::max(1, s.machine->host.boxes) / GiB);
  return std::min(std::max<Size>(8, asked), std::max<Size>(1, of_box));
}

/// Starts the command in every box, or for every card where the engine wants that.
std::string start_in_boxes(const Boxes& boxes, bool task_a_card) {
  if (!boxes.several()) return "exec \"$@\"\n";
  if (task_a_card) return "exec srun --mpi=pmix \"$@\"\n";
  return "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
         "export MASTER_ADDR\n"
         "exec srun bash -c 'NODE_RANK=$SLURM_NODEID exec \"$@\"' box \"$@\"\n";
}

}  // namespace

std::string slurm_script(const LaunchPoint& point) {
  const model::Estimate& e = point.estimate();
  const Boxes boxes = boxes_of(point);
  const auto& cards = point.scenario.machine->devices;
  if (!cards.empty() && cards.front().vendor == "apple")
    throw std::invalid_argument("Slurm does not run on macOS and cannot request Apple cards");
  const std::string command = start_command(point);
  const bool task_a_card = point.scenario.runtime->series == "tensorrt-llm" && boxes.several();
  const Size tasks = task_a_card ? boxes.cards : 1;
  std::string text = fmt::format(
      "#!/bin/bash\n#SBATCH --job-name=headroom\n#SBATCH --nodes={}\n"
      "#SBATCH --ntasks-per-node={}\n#SBATCH --cpus-per-task={}\n#SBATCH --mem={}G\n",
      boxes.count, tasks, std::max<Size>(1, cores(point, boxes) / tasks), host_gib(point, boxes));
  if (e.gpus_used > 0) text += fmt::format("#SBATCH --gres=gpu:{}\n", boxes.cards);
  text += comment(fmt::format("{} in {} on {}: {}; ready after {}.", point.model().name,
                              point.scheme().name, point.scenario.machine->name,
                              verdict_text(point.scenario, e), duration(e.load.value()))) +
          "# No --time: a server runs until it is ended, at most as long as the partition allows.\n"
          "set -euo pipefail\n";
  if (point.scenario.runtime->offload.mode == model::Offload::stream)
    text +=
        "mkdir -p offload\nchmod u+rwx offload\n"
        "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n";
  text += command.empty()
              ? "[ $# -gt 0 ] || { echo 'usage: sbatch job.sbatch COMMAND...' >&2; exit 2; }\n"
              : fmt::format("[ $# -gt 0 ] || set -- {}\n", command);
  return text + start_in_boxes(boxes, task_a_card);
}

std::string measure_script(const LaunchPoint& point) {
  const model::Estimate& e = point.estimate();
  if (e.gpus_used == 0)
    throw std::invalid_argument("nothing is on a card: `/usr/bin/time -v COMMAND` shows the RAM");
  if (point.scenario.machine->devices.front().vendor != "nvidia")
    throw std::invalid_argument("the script asks nvidia-smi, and these cards are of another maker");
  constexpr Size mib = Size{1} << 20;
  const std::string command = start_command(point);
  return fmt::format(R"(#!/bin/bash
# Runs a command and compares the peak of the most loaded card with the estimate:
#   bash measure.sh {4}
{0}# Exit code: the command's; 3 where the peak is outside the interval.
# A server is ended with Ctrl-C once it has answered a request.
set -uo pipefail
low={1} expected={2} high={3}   # MiB
log=$(mktemp)
trap 'rm -f "$log"' EXIT
nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits -lms 200 >"$log" &
watcher=$!
trap ':' INT
"$@"
code=$?
[ "$code" -ne 130 ] || code=0
kill "$watcher" 2>/dev/null
peak=$(sort -n "$log" | tail -1)
echo "most loaded card: ${{peak:-?}} MiB, expected $expected ($low to $high) MiB"
[ "$code" -eq 0 ] || exit "$code"
[ "${{peak:-0}}" -ge "$low" ] && [ "${{peak:-0}}" -le "$high" ] || exit 3
)",
                     comment(fmt::format("{} in {} on {}.", point.model().name, point.scheme().name,
                                         point.scenario.machine->name)),
                     e.gpu_bytes_low.count() / mib, e.gpu_bytes.count() / mib,
                     e.gpu_bytes_high.count() / mib + 1, command.empty() ? "COMMAND" : command);
}

}  // namespace headroom::sweep
