# Sourced by tests/slurm.sh and bench/shards.sh: a Slurm of one node on this machine (packages
# slurm-wlm and munge, as root).

# start_slurm FOLDER CPUS: its files go into FOLDER, and SLURM_CONF names its configuration.
start_slurm() {
  local folder=$1 cpus=$2
  export SLURM_CONF=$folder/slurm.conf
  mkdir -p "$folder/n1" "$folder/state"
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
NodeName=n1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=16818 CPUs=$cpus RealMemory=900000 Gres=gpu:4
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
    [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && return
    sleep 0.2
  done
}

# stop_slurm FOLDER: ends it, and waits until nothing writes into the folder any more.
stop_slurm() {
  local pids
  pids=$(cat "$1/n1.pid" "$1/ctld.pid" 2>/dev/null) || true
  for _ in {1..100}; do
    # shellcheck disable=SC2086  # numbers, apart by spaces
    kill $pids 2>/dev/null || return 0
    sleep 0.1
  done
}

# start_requeued ARRAY: a requeued task waits for two minutes, which these scripts do not.
start_requeued() {
  local task
  squeue -h -r -j "$1" -t PENDING -o '%i %r' 2>/dev/null | while read -r task reason; do
    [ "$reason" != BeginTime ] || scontrol update JobId="$task" StartTime=now 2>/dev/null || true
  done
}

# points_stored DATABASE: points of its shard so far.
points_stored() { sqlite3 "file:$1?mode=ro" 'SELECT points FROM run' 2>/dev/null || echo 0; }
