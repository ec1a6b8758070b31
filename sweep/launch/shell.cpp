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

/// Cores: all where the CPU computes layers, else four a card to load and tokenise.
Size cores(const LaunchPoint& point) {
  const model::Scenario& s = point.scenario;
  const Size all = s.machine->host.cores;
  const bool computes = point.estimate().verdict > model::Verdict::fits_gpus &&
                        s.runtime->offload.mode == model::Offload::compute;
  if (computes || s.machine->devices.empty()) return all;
  return std::clamp<Size>(4 * point.estimate().gpus_used, 1, all);
}

/// GiB of host memory: a tenth over what the estimate holds there, at least 8.
Size host_gib(const LaunchPoint& point) {
  const double held = point.estimate().cpu_bytes.real().value() / (1 << 30);
  return std::max<Size>(8, static_cast<Size>(std::ceil(1.1 * held)));
}

}  // namespace

std::string slurm_script(const LaunchPoint& point) {
  const model::Estimate& e = point.estimate();
  const Host& host = point.scenario.machine->host;
  if (host.cards > 0 && e.gpus_used > host.cards)
    throw std::invalid_argument(
        fmt::format("the point takes {} cards and {} holds {}: a job of several boxes needs the "
                    "engine's own launcher",
                    e.gpus_used, host.name, host.cards));
  const auto& cards = point.scenario.machine->devices;
  if (!cards.empty() && cards.front().vendor == "apple")
    throw std::invalid_argument("Slurm does not run on macOS and cannot request Apple cards");
  const std::string command = start_command(point);
  std::string text = fmt::format(
      "#!/bin/bash\n#SBATCH --job-name=headroom\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n"
      "#SBATCH --cpus-per-task={}\n#SBATCH --mem={}G\n#SBATCH --time=01:00:00\n",
      cores(point), host_gib(point));
  if (e.gpus_used > 0) text += fmt::format("#SBATCH --gres=gpu:{}\n", e.gpus_used);
  text += comment(fmt::format("{} in {} on {}: {}; ready after {}.", point.model().name,
                              point.scheme().name, point.scenario.machine->name,
                              verdict_text(point.scenario, e), duration(e.load.value()))) +
          "set -euo pipefail\n";
  if (point.scenario.runtime->offload.mode == model::Offload::stream)
    text +=
        "mkdir -p offload\nchmod u+rwx offload\n"
        "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n";
  text += command.empty()
              ? "[ $# -gt 0 ] || { echo 'usage: sbatch job.sbatch COMMAND...' >&2; exit 2; }\n"
              : fmt::format("[ $# -gt 0 ] || set -- {}\n", command);
  text += "exec \"$@\"\n";
  return text;
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
