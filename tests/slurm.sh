#!/usr/bin/env bash
# tests/slurm.sh PROGRAM: starts a Slurm of one node on this machine (packages slurm-wlm and munge,
# as root), and asks it whether it would run the job file that PROGRAM writes.
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
