#!/usr/bin/env bash
# examples/slurm/submit.sh SPEC SHARDS OUT [SBATCH OPTION...]: a sweep as a job array of Slurm, and
# a job after it that merges. SPEC and OUT are on a file system that all nodes share. Prints the
# numbers of both jobs.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
export SPEC=$1 SHARDS=$2 OUT=$3
shift 3
mkdir -p "$OUT"
array=$(sbatch --parsable --array="1-$SHARDS" --output="$OUT/shard-%a.log" "$@" "$here/sweep.sbatch")
merge=$(sbatch --parsable --dependency="afterok:$array" --kill-on-invalid-dep=yes --output="$OUT/merge.log" "$@" "$here/merge.sbatch")
echo "$array $merge"
