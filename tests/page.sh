#!/usr/bin/env bash
# tests/page.sh PROGRAM [FOLDER]: sweeps a small grid twice and looks at its page in headless
# Chromium. Sorting and filtering must work, and the console must be empty. Text of users must stay
# text, and nothing may be wider than a phone. A night of 200 models on 12 machines stays short and
# legible. Screenshots are left in FOLDER where one is given. Exit code 77: no Chromium.
set -euo pipefail
program=$(realpath "$1")
browser=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$browser" ]; then
  echo "skipped: chromium is not installed"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
shots=${2:+$(realpath "$2")}
cd "$folder"

cat >spec.toml <<'END'
[run]
name = "page <img src=x onerror=\"document.title='bad'\">"
out = "out"
hardware = ["cards.toml"]
[[grid]]
models = ["gpt2", "TinyLlama-1.1B-Chat-v1.0", "llama2-7b", "custom?hidden_size=64&layers=2"]
precisions = ["auto", "int8"]
runtimes = ["transformers"]
batches = [1, 8]
machines = ["rtx-4090", "small-card"]
gpu_budgets = ["0-max+2GiB"]
END
card() {
  printf '[[device]]\nname = "small-card"\ntitle = "</script><b>x"\nvendor = "nvidia"\nmemory_mib = %s\n' "$1"
  printf 'bandwidth_gbs = 300\nfp16_tflops = 20\nhost_bus_gbs = 15\nlist_price_usd = 250\nsource = "made up"\ndate = "2026-11-21"\n'
}
card 16000 >cards.toml
"$program" sweep spec.toml --no-plots >/dev/null
card 6000 >cards.toml
"$program" sweep spec.toml --no-plots >/dev/null

# A script at the end of the page acts as a reader.
cat >actions.html <<'END'
<script>
(() => {
  const out = [], say = (name, value) => out.push(`${name}=${value}`);
  const cells = (id, column) => [...document.querySelectorAll(`#${id} tbody tr`)].filter((r) => !r.hidden).map((r) => r.cells[column].textContent);
  const press = (id, column) => document.querySelectorAll(`#${id} thead button`)[column].click();
  const type = (id, text) => { const e = document.getElementById(id); e.value = text; e.dispatchEvent(new Event("input")); };
  const up = (list) => list.every((v, i) => i === 0 || Number(list[i - 1]) <= Number(v));
  say("title", document.title.startsWith("page <img"));
  say("images", document.images.length);
  say("bold", document.querySelectorAll("main b").length);
  press("matrix", 1);
  const first = cells("matrix", 1);
  say("matrix-up", up(first));
  press("matrix", 1);
  say("matrix-down", cells("matrix", 1).join() === first.reverse().join());
  say("matrix-sort", document.querySelectorAll("#matrix thead th")[1].getAttribute("aria-sort"));
  type("matrix-text", "llama");
  say("matrix-llama", cells("matrix", 0).length);
  type("matrix-text", "");
  const heads = [...document.querySelectorAll("#points thead button")].map((b) => b.textContent);
  const speed = heads.indexOf("tokens/s (tokens/s)") < 0 ? heads.findIndex((h) => h.startsWith("tokens/s")) : heads.indexOf("tokens/s (tokens/s)");
  say("points", document.getElementById("points-count").textContent);
  press("points", speed);
  press("points", speed);
  say("points-down", up(cells("points", speed).reverse().map((v) => v.replace(/,/g, ""))));
  type("points-text", "gpt2 int8");
  const kept = [...document.querySelectorAll("#points tbody tr")].map((r) => r.textContent);
  say("points-filter", kept.length > 0 && kept.every((t) => t.includes("gpt2") && t.includes("int8")));
  type("points-text", "no such thing");
  say("points-none", document.querySelectorAll("#points tbody tr").length);
  type("points-text", "");
  say("wide", document.documentElement.scrollWidth > window.innerWidth);
  say("headings", [...document.querySelectorAll("h1, h2, h3")].map((h) => h.tagName[1]).join("").match(/^1(2|23+)+$/) !== null);
  say("unnamed", [...document.querySelectorAll("svg, .scroll, input, select, button")].filter((e) => !(e.getAttribute("aria-labelledby") || e.getAttribute("aria-label") || e.closest("label") || e.textContent.trim())).length);
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  say("ids", ids.length === new Set(ids).size);
  say("curves", document.querySelectorAll("svg .curve").length > 4);
  const pre = document.createElement("pre");
  pre.id = "seen";
  pre.textContent = out.join("\n");
  document.body.append(pre);
})();
</script>
END
cat out/index.html actions.html >acted.html

# A large night: 200 models on 12 machines in two ways.
list() { sed 's/.*/"&",/'; }
{
  printf '[run]\nname = "large"\nout = "large"\n[[grid]]\nprecisions = ["auto", "q4_K_M"]\nruntimes = ["vllm", "llama.cpp"]\n'
  printf 'link = [["precisions", "runtimes"]]\nmodels = [\n'
  "$program" models --format csv | sed -n 's/^\([^,]*\/[^,]*\),.*/\1/p' | awk 'NR <= 200' | list
  printf ']\nmachines = [\n'
  printf '%s\n' rtx-3060 rtx-4060 rtx-4090 rtx-5090 "2x rtx-3090" "4x l40s" m4-pro-48gb h100-sxm-80gb \
    "4x a100-sxm-80gb" "8x h100-sxm-80gb" "8x h200-sxm-141gb" "8x b200-sxm-180gb" | list
  printf ']\n'
} >large.toml
"$program" sweep large.toml --no-plots >/dev/null
cat >large.html <<'END'
<script>
(() => {
  const out = [], say = (name, value) => out.push(`${name}=${value}`);
  const parts = (color) => color.match(/[0-9.]+/g).slice(0, 3).map((v) => v / 255);
  const light = (color) => parts(color).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\)$|transparent/.test(c)) return c; } return getComputedStyle(document.documentElement).backgroundColor; };
  let least = 21;
  for (const e of document.querySelectorAll("p, a, td, th, small, summary span, button, label, input, select, h1, h2")) {
    const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
    least = Math.min(least, (a + 0.05) / (b + 0.05));
  }
  say("contrast", least >= 4.5);
  say("low", document.documentElement.scrollHeight < 20000);
  say("wide", document.documentElement.scrollWidth > window.innerWidth);
  const rows = [...document.querySelectorAll("#matrix tbody tr")];
  say("matrix", `${rows.length}x${rows[0].cells.length - 2}`);
  const tall = rows.map((r) => r.getBoundingClientRect().height);
  say("one-line", window.innerWidth < 600 || Math.max(...tall) < 40);
  const cells = [...document.querySelectorAll("#matrix summary")];
  say("keyboard", cells.length > 1000 && cells.every((c) => c.tabIndex >= 0) && document.querySelectorAll("#matrix thead button").length === 14);
  cells[0].click();
  say("details", cells[0].parentElement.open && cells[0].parentElement.querySelectorAll("small").length > 2);
  document.getElementById("matrix").closest(".scroll").scrollTo(300, 900);
  const head = document.querySelector("#matrix thead th").getBoundingClientRect(), box = document.getElementById("matrix").closest(".scroll").getBoundingClientRect();
  say("sticky", Math.abs(head.left - box.left) < 3 && Math.abs(head.top - box.top) < 3);
  const pre = document.createElement("pre");
  pre.id = "seen";
  pre.textContent = out.join("\n");
  document.body.append(pre);
})();
</script>
END
cat large/index.html large.html >large-acted.html
# Chromium refuses its sandbox to root, as which containers run.
look() { timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --enable-logging=stderr --user-data-dir="$folder/profile" "$@" 2>>console.txt; }
look --window-size=390,844 --dump-dom "file://$folder/acted.html" >dom.html
sed -n '/<pre id="seen">/,/<\/pre>/p' dom.html | sed 's/<[^>]*>//g' | grep = >seen.txt
cat >expected.txt <<'END'
title=true
images=0
bold=0
matrix-up=true
matrix-down=true
matrix-sort=descending
matrix-llama=2
points=100 of 272 points shown
points-down=true
points-filter=true
points-none=0
wide=false
headings=true
unnamed=0
ids=true
curves=true
END
if [ -n "$shots" ]; then
  mkdir -p "$shots"
  look --window-size=1280,3600 --screenshot="$shots/light.png" "file://$folder/out/index.html" >/dev/null
  look --window-size=1280,3600 --blink-settings=preferredColorScheme=0 --screenshot="$shots/dark.png" "file://$folder/out/index.html" >/dev/null
  look --window-size=500,2600 --screenshot="$shots/phone.png" "file://$folder/out/index.html" >/dev/null
  cp out/index.html "$shots/"
fi
cat >expected-large.txt <<'END'
contrast=true
low=true
wide=false
matrix=200x12
one-line=true
keyboard=true
details=true
sticky=true
END
large() {
  look "$@" --dump-dom "file://$folder/large-acted.html" | sed -n '/<pre id="seen">/,/<\/pre>/p' | sed 's/<[^>]*>//g' | grep = >seen-large.txt
  diff expected-large.txt seen-large.txt || { echo "the large page: $*" >&2; exit 1; }
}
large --window-size=1280,900
large --window-size=1280,900 --blink-settings=preferredColorScheme=0
large --window-size=500,844
diff expected.txt seen.txt
if grep CONSOLE console.txt; then
  echo "there are messages on the console" >&2
  exit 1
fi
grep -q 'hardware' out/changes.md
echo "the page sorts, filters, escapes and fits"
