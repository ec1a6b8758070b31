#!/usr/bin/env bash
# tests/unattended.sh PROGRAM: the units and the crontab of examples/unattended as they are, under a
# real systemd of a user and a real cron daemon. A mount namespace gives them folders of their own,
# so that nothing of this machine is touched. Takes two minutes: cron knows no seconds. Exit code
# 77: not root, or systemd, cron or unshare is missing.
set -euo pipefail
if [ "${1:-}" != --inside ]; then
  for tool in unshare systemd-analyze crontab cron; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
  done
  [ "$(id -u)" = 0 ] || { echo "skipped: a mount namespace takes root"; exit 77; }
  exec unshare --mount --propagation private bash "${BASH_SOURCE[0]}" --inside "$(realpath "$1")"
fi
program=$2
examples=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../examples/unattended")
folder=$(mktemp -d)
started=()
stop() {
  for process in "${started[@]}"; do kill "$process" 2>/dev/null && wait "$process" 2>/dev/null || true; done
  umount -l /run /usr/local/bin /usr/sbin /var/spool/cron /etc/crontab "$folder/upper" 2>/dev/null || true
  rm -rf "$folder"
}
trap stop EXIT
fail() { echo "failed: $*" >&2; exit 1; }

# The program where the units look for it; mail into a file.
mkdir -p "$folder"/{bin,home/planning,home/.config/systemd/user,spool/crontabs,upper,work}
cp "$program" "$folder/bin/headroom"
mount --bind "$folder/bin" /usr/local/bin
mount -t tmpfs none "$folder/upper" && mkdir "$folder/upper"/{upper,work}
mount -t overlay none -o "lowerdir=/usr/sbin,upperdir=$folder/upper/upper,workdir=$folder/upper/work" /usr/sbin
printf '#!/bin/sh\ncat >>%s/mail\n' "$folder" >/usr/sbin/sendmail
chmod +x /usr/sbin/sendmail
export HOME=$folder/home
cd "$HOME/planning"
cp "$examples"/*.sh .
spec() {  # RUNTIME
  printf '[run]\nname = "nightly"\n[[grid]]\nmodels = ["TinyLlama-1.1B-Chat-v1.0"]\nruntimes = ["transformers"]\nmachines = ["%s"]\nbatches = [1, 8]\n' "$1"
  printf '[report]\nplots = false\n'
}
card() {  # GB/s, MiB
  printf '[[device]]\nname = "own-card"\ntitle = "Own"\nvendor = "nvidia"\nbandwidth_gbs = %s\nmemory_mib = %s\n' "$1" "${2:-8000}"
  printf 'fp16_tflops = 20\nhost_bus_gbs = 15\nsource = "made up"\ndate = "2026-11-21"\n'
}
spec own-card | sed 's/name = "nightly"/&\nhardware = ["card.toml"]/' >nightly.toml

# systemd
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system /run/user
export XDG_RUNTIME_DIR=/run/user
cp "$examples"/headroom-nightly.{service,timer} "$HOME/.config/systemd/user/"
systemd-analyze --user verify --man=no "$HOME"/.config/systemd/user/headroom-nightly.{service,timer} ||
  fail "systemd-analyze verify"
systemd-analyze calendar "$(sed -n 's/^OnCalendar=//p' "$examples/headroom-nightly.timer")" >/dev/null
/lib/systemd/systemd --user --log-target=null &
started+=($!)
for _ in $(seq 50); do systemctl --user is-system-running >/dev/null 2>&1 && break || sleep 0.1; done
systemctl --user enable --now headroom-nightly.timer 2>/dev/null
systemctl --user list-timers --no-legend | grep -q headroom-nightly.service || fail "the timer does not wait"
card 300 >card.toml
systemctl --user start headroom-nightly.service || fail "the first night"
systemctl --user start headroom-nightly.service || fail "a night on which nothing changed"
card 100 >card.toml
if systemctl --user start headroom-nightly.service 2>/dev/null; then fail "a slower night is no alert"; fi
[ "$(systemctl --user show -P ExecMainStatus headroom-nightly.service)" = 3 ] || fail "exit code 3"
grep -q '^Subject: headroom: --fail-if holds for 1 best way' "$folder/mail" && grep -q own-card "$folder/mail" ||
  fail "no mail that names the card"
rm "$folder/mail"
systemctl --user start headroom-nightly.service || fail "the night after: the slower one is what is usual now"
card 100 1500 >card.toml
if systemctl --user start headroom-nightly.service 2>/dev/null; then fail "a model that no longer fits is no alert"; fi
grep -q 'old.best_verdict fits' "$folder/mail" && grep -q 'fits → ' "$folder/mail" || fail "no mail about the model that no longer fits"
rm "$folder/mail"
[ "$(headroom report out/nightly --runs --format csv | wc -l)" = 6 ] || fail "five runs"
echo "systemd: five nights, two alerts with exit code 3"

# cron: at every minute instead of at three
{ echo "HOME=$HOME"; sed "s/^0 3 /* * /" "$examples/crontab"; } >crontab
crontab -n crontab 2>/dev/null || fail "the crontab's syntax"
mount --bind "$folder/spool" /var/spool/cron
printf '' >"$folder/empty" && mount --bind "$folder/empty" /etc/crontab
rm -rf out
card 300 >card.toml
headroom sweep nightly.toml >/dev/null
crontab crontab
/usr/sbin/cron -f &
started+=($!)
nights() { [ ! -f nightly.log ] && echo 0 || grep -c '"event":"run"' nightly.log || true; }
wait_for() {  # NIGHTS
  for _ in $(seq 80); do [ "$(nights)" -ge "$1" ] && sleep 3 && return; sleep 1; done
  fail "cron has not run $1 nights: $(cat "$folder/mail" 2>/dev/null)"
}
wait_for 1
[ ! -s "$folder/mail" ] || fail "mail on a quiet night: $(cat "$folder/mail")"
card 100 >card.toml
wait_for 2
grep -q '^--fail-if holds' "$folder/mail" && grep -q own-card "$folder/mail" || fail "no mail about the slower night"
echo "cron: a quiet night without mail, a slower one with it"
