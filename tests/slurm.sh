#!/usr/bin/env bash
# tests/slurm.sh PROGRAM: starts a Slurm of one node on this machine (packages slurm-wlm and munge,
# as root). It asks Slurm if it would run the job file that PROGRAM writes.
set -euo pipefail
program=$1
folder=$(mktemp -d)
trap 'pkill -F "$folder/n1.pid" 2>/dev/null; pkill -F "$folder/ctld.pid" 2>/dev/null; rm -rf "$folder"' EXIT
export SLURM_CONF=$folder/slurm.conf
mkdir "$folder/n1" "$folder/state"
touch "$folder"/gpu{0..3}
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmctldPort=16817
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/%n
SlurmctldPidFile=$folder/ctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/ctld.log
SlurmdLogFile=$folder/%n.log
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=n1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=16818 CPUs=64 RealMemory=900000 Gres=gpu:4
PartitionName=all Nodes=ALL Default=YES State=UP
END
printf 'IgnoreSystemd=yes\nIgnoreSystemdOnFailure=yes\nConstrainCores=no\n' >"$folder/cgroup.conf"
printf 'NodeName=n1 Name=gpu File=%s/gpu[0-3]\n' "$folder" >"$folder/gres.conf"

if ! munge -n 2>/dev/null | unmunge >/dev/null 2>&1; then
  mkdir -p /run/munge && chown munge /run/munge
  su -s /bin/sh munge -c /usr/sbin/munged
fi
setsid slurmctld -f "$SLURM_CONF"
setsid slurmd -N n1 -f "$SLURM_CONF"
for _ in {1..50}; do
  [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
  sleep 0.2
done

job=$folder/job.sbatch
"$program" launch llama2-70b --machine '2x a100-sxm-40gb @ dual-epyc-120gb' --kind slurm >"$job"
sbatch --test-only "$job"
"$program" launch llama2-70b --machine '8x a100-sxm-40gb' --tp 8 --runtime vllm --kind slurm >"$job"
if sbatch --test-only "$job" 2>/dev/null; then
  echo "a job of eight cards was accepted by a node of four" >&2
  exit 1
fi
echo "the job file is accepted where it fits, and refused where it asks for more than there is"

# A sweep as a job array of three shards, one of which is killed in mid-run and requeued; then the
# job that merges. The result is that of the sweep without shards.
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
HEADROOM=$(realpath "$program")
export HEADROOM
cat >"$folder/array.toml" <<'END'
[run]
name = "array"
[[grid]]
models = ["llama2-7b", "gpt2"]
runtimes = "transformers"
batches = "1-3000"
prompt_tokens = "128-16384*2"
machines = ["rtx-4090", "2x a100-sxm-40gb"]
gpu_budgets = ["0-24GiB+1GiB"]
[report]
plots = false
END
out=$folder/array
mkdir -p "$out/whole"
"$HEADROOM" sweep "$folder/array.toml" --no-plots --out "$out/whole"
read -r array merge < <("$here/../examples/slurm/submit.sh" "$folder/array.toml" 3 "$out/sharded" --cpus-per-task=1)
stored() { sqlite3 "file:$out/sharded/shards/2-of-3.sqlite?mode=ro" 'SELECT points FROM run' 2>/dev/null || echo 0; }
for _ in {1..600}; do
  points=$(stored)
  [ "${points:-0}" -gt 0 ] && break
  sleep 0.1
done
scontrol requeue "${array}_2"
sleep 3
echo "shard 2 of job $array was requeued at point $(stored) of its shard"
requeued=0
for _ in {1..1200}; do
  state=$(squeue -h -j "${array}_2" -o '%T %r' 2>/dev/null || true)
  case $state in PENDING*) scontrol update JobId="${array}_2" StartTime=now 2>/dev/null && requeued=1 ;; esac
  [ -z "$(squeue -h 2>/dev/null)" ] && break
  sleep 0.5
done
[ "$requeued" = 1 ] || echo "note: the requeued task started on its own"
cat "$out"/sharded/*.log
grep -q '"event":"resumed"' "$out/sharded/shard-2.log"
cmp "$out/whole/results.csv" "$out/sharded/results.csv"
cmp "$out/whole/compatibility.csv" "$out/sharded/compatibility.csv"
echo "the merged array has the content of the sweep without shards"
