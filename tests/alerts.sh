#!/usr/bin/env bash
# tests/alerts.sh PROGRAM: the alerts of examples/unattended, as mail, to a webhook on this machine and
# as a file for Prometheus. Three nights: the first, one on which nothing changed, one on which a model
# no longer fits.
set -euo pipefail
program=$(realpath "$1")
examples=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../examples/unattended")
for tool in curl python3; do command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }; done
folder=$(mktemp -d)
listener=
stop() { [ -z "$listener" ] || kill "$listener" 2>/dev/null || true; rm -rf "$folder"; }
trap stop EXIT
fail() { echo "failed: $*" >&2; exit 1; }
cd "$folder"
mkdir bin
ln -s "$program" bin/headroom
export PATH="$folder/bin:$examples:$PATH"
printf '#!/bin/sh\ncat >%s/mail\n' "$folder" >sendmail
chmod +x sendmail
export SENDMAIL=$folder/sendmail

# Answers one request after another with 204, and keeps the last body.
cat >listen.py <<'EOF'
import http.server
class Keep(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        open("posted", "wb").write(body)
        self.send_response(500 if self.path == "/broken" else 204)
        self.end_headers()
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Keep)
open("port.new", "w").write(str(server.server_port))
__import__("os").rename("port.new", "port")
server.serve_forever()
EOF
python3 listen.py &
listener=$!
for _ in $(seq 100); do [ -f port ] && break; sleep 0.1; done
url=http://127.0.0.1:$(cat port)

condition="old.best_verdict = 'fits' and new.best_verdict <> 'fits'"
night() {  # MiB of the card
  printf '[[device]]\nname = "own-card"\nvendor = "nvidia"\nmemory_mib = %s\nbandwidth_gbs = 300\n' "$1" >card.toml
  printf 'fp16_tflops = 20\nhost_bus_gbs = 15\nsource = "made up"\ndate = "2026-11-21"\n' >>card.toml
  headroom sweep nightly.toml --no-plots >/dev/null
}
cat >nightly.toml <<'EOF'
[run]
name = "nightly"
hardware = ["card.toml"]
[[grid]]
models = ["TinyLlama-1.1B-Chat-v1.0"]
runtimes = ["vllm"]
machines = ["own-card"]
EOF
alert() {  # CODE COMMAND…: alert.sh ends with this code
  local expected=$1 code=0
  shift
  alert.sh out/nightly "$condition" "$@" || code=$?
  [ "$code" = "$expected" ] || fail "$*: exit code $code, expected $expected"
}
metric() { sed -n "s/^$1{folder=\"out\/nightly\"} //p" headroom.prom; }

for memory in 8000 8000; do
  night "$memory"
  alert 0 to-mail.sh planning@example.org
  alert 0 to-webhook.sh "$url"
  [ ! -e mail ] && [ ! -e posted ] || fail "an alert on a quiet night"
  to-prometheus.sh out/nightly "$condition" headroom.prom || fail "metrics of a quiet night"
  [ "$(metric headroom_alert_matches) $(metric headroom_diff_works)" = "0 1" ] || fail "quiet: $(cat headroom.prom)"
done

night 1500
alert 3 to-mail.sh planning@example.org
grep -q '^To: planning@example.org$' mail || fail "the address: $(cat mail)"
grep -q '^Subject: headroom: --fail-if holds for 1 best way of 1 model; the first: TinyLlama' mail || fail "the subject: $(cat mail)"
grep -q 'memory of own-card: 7.81 → 1.46 GiB' mail || fail "the cause: $(cat mail)"
alert 3 to-webhook.sh "$url"
python3 - <<'EOF' || fail "the post: $(cat posted)"
import json
text = json.load(open("posted"))["text"]
assert text.startswith("--fail-if holds for 1 best way of 1 model"), text
assert "\nBest ways: 1 verdict worse" in text, text
EOF
alert 1 to-webhook.sh "$url/broken" 2>/dev/null
to-prometheus.sh out/nightly "$condition" headroom.prom || fail "metrics of an alert"
[ "$(metric headroom_alert_matches) $(metric headroom_alert_models)" = "1 1" ] || fail "an alert: $(cat headroom.prom)"

# A condition that means nothing is no quiet night.
condition="new.speed < 1"
alert 2 to-mail.sh planning@example.org
grep -q 'no such column: new.speed' mail || fail "the mistake: $(cat mail)"
if to-prometheus.sh out/nightly "$condition" headroom.prom; then fail "a mistake gives metrics"; fi
[ "$(metric headroom_diff_works)" = 0 ] || fail "a mistake works: $(cat headroom.prom)"
echo "two quiet nights, one alert as mail, post and metrics, one mistake"
