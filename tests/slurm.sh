#!/usr/bin/env bash
# tests/slurm.sh PROGRAM: starts a Slurm of one node on this machine (packages slurm-wlm and munge,
# as root). It asks Slurm if it would run the job file that PROGRAM writes, and sweeps in shards.
set -euo pipefail
program=$1
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
. "$here/one_node_slurm.sh"
folder=$(mktemp -d)
trap 'stop_slurm "$folder"; rm -rf "$folder"' EXIT
start_slurm "$folder" 64

job=$folder/job.sbatch
"$program" launch llama2-70b --machine '2x a100-sxm-40gb @ dual-epyc-120gb' --kind slurm >"$job"
sbatch --test-only "$job"
"$program" launch llama2-70b --machine '8x a100-sxm-40gb' --tp 8 --runtime vllm --kind slurm >"$job"
if sbatch --test-only "$job" 2>/dev/null; then
  echo "a job of eight cards was accepted by a node of four" >&2
  exit 1
fi
echo "the job file is accepted where it fits, and refused where it asks for more than there is"

# A sweep as a job array of four shards, of which one is killed and one requeued in mid-run; then the
# job that merges. The result is that of the sweep without shards.
HEADROOM=$(realpath "$program") "$here/../bench/shards.sh" 2000000 4
