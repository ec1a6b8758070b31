# Sourced by tests/run.sh and examples/run.sh, from the root of the project: installs what the
# build needs, only what is missing. Knows the names of Debian 12 and Ubuntu 24.04; elsewhere it
# lists what is missing and stops.

headroom_build_packages() {
  echo g++ ccache cmake ninja-build pkg-config python3 libtbb-dev libcurl4-openssl-dev libsqlite3-dev \
    libtomlplusplus-dev libfmt-dev libgtest-dev libbenchmark-dev libcpp-httplib-dev libyaml-cpp-dev libeigen3-dev zlib1g-dev libzstd-dev gnuplot-nox sqlite3
  case $1 in
    debian:12) echo libboost{,-json,-program-options,-iostreams,-filesystem,-system}1.81-dev ;;
    *) echo libboost{,-json,-program-options,-iostreams,-filesystem,-system}-dev ;;
  esac
}

headroom_long_packages() { echo slurm-wlm munge systemd cron python3-pip; }

headroom_check_packages() { echo clang-format-16 clang-tidy-16 clang-16 libclang-rt-16-dev git $(headroom_browser "$1"); }

# torch for the probe, from Debian, since PyPI's comes with gigabytes of CUDA: 150 MB to download.
headroom_probe_packages() { case $1 in debian:12) echo python3-torch python3-venv ;; esac; }

# Ubuntu's package of Chromium is a shell around a snap, which a container cannot run.
headroom_browser() { case $1 in debian:*) echo chromium ;; esac; }

# The packages among "$@" that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      echo "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "these packages need root or sudo to install:" "${@:4}" >&2
    return 1
  fi
}

# apt_install PACKAGE...: with the package lists brought up to date once.
apt_install() {
  as_root apt-get -qq update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" \
    </dev/null >/dev/null
}

# gnuplot-iostream is one header. Debian 12's package needs another Boost than the one with
# Boost.JSON. There the header is extracted from the package into the build tree.
get_gnuplot_iostream() {
  local folder=build/gnuplot-iostream
  [ -f /usr/include/gnuplot-iostream.h ] || [ -f /usr/local/include/gnuplot-iostream.h ] ||
    [ -f "$folder/usr/include/gnuplot-iostream.h" ] && return
  if [ "$1" != debian:12 ]; then
    apt_install libgnuplot-iostream-dev
    return
  fi
  mkdir -p "$folder"
  (cd "$folder" &&
    { apt-get -qq download libgnuplot-iostream-dev 2>/dev/null ||
      { as_root apt-get -qq update && apt-get -qq download libgnuplot-iostream-dev; }; } &&
    dpkg-deb -x libgnuplot-iostream-dev_*.deb . && rm libgnuplot-iostream-dev_*.deb)
}

# A python3 with torch and transformers for tests/probe.sh, unless there is one: Debian's torch 1.13,
# and the last transformers that runs with it and Python 3.11. If it is not available, that test is
# skipped and this script says so.
get_probe_python() {
  local folder=build/probe-python
  python3 -c 'import torch, transformers' 2>/dev/null && return
  "$folder/bin/python" -c 'import torch, transformers' 2>/dev/null && return
  { install_packages probe && /usr/bin/python3 -m venv --system-site-packages "$folder" &&
    "$folder/bin/pip" install -q 'transformers==4.45.2' 'huggingface_hub<1' &&
    "$folder/bin/python" -c 'import torch, transformers'; } ||
    echo "no torch and transformers for python3: the probe is not run" >&2
}

# A python3 with pyarrow and prometheus_client for tests/export.sh, in build/export-python. Fails with the
# reason where they cannot be installed: that test has nothing to say then.
get_export_python() {
  local folder=build/export-python
  local wanted=(pyarrow==26.0.1 prometheus_client==0.26.0)
  "$folder/bin/python" -c 'import pyarrow, prometheus_client' 2>/dev/null && return
  { python3 -m venv "$folder" && "$folder/bin/pip" install -q --disable-pip-version-check "${wanted[@]}"; } || {
    echo "failed: ${wanted[*]} cannot be installed into $folder; python3-venv and a package index are needed" >&2
    return 1
  }
}

# install_packages build|check...: everything that these groups need.
install_packages() {
  local system=unknown group wanted=() missing
  [ -r /etc/os-release ] && system=$(. /etc/os-release && echo "${ID:-}:${VERSION_ID:-}")
  for group in "$@"; do wanted+=($("headroom_${group}_packages" "$system")); done
  case $system in
    debian:12 | ubuntu:24.04) ;;
    *)
      stop_unless_present
      return
      ;;
  esac
  missing=($(missing_packages "${wanted[@]}"))
  if [ ${#missing[@]} -gt 0 ]; then
    echo "installing: ${missing[*]}"
    apt_install "${missing[@]}"
  fi
  get_gnuplot_iostream "$system"
}

# On a system whose package names are not known: stop with a list, or go on where all is there.
stop_unless_present() {
  local lacking=() tool header
  for tool in g++ cmake ninja gnuplot sqlite3; do
    command -v "$tool" >/dev/null || lacking+=("$tool")
  done
  for header in boost/json.hpp boost/program_options.hpp boost/iostreams/stream.hpp tbb/tbb.h \
    curl/curl.h sqlite3.h toml++/toml.h fmt/core.h yaml-cpp/yaml.h Eigen/Cholesky gtest/gtest.h \
    benchmark/benchmark.h gnuplot-iostream.h; do
    printf '#include <%s>\n' "$header" |
      g++ -std=c++20 -Ibuild/gnuplot-iostream/usr/include -I/usr/include/eigen3 -M -x c++ - >/dev/null 2>&1 ||
      lacking+=("<$header>")
  done
  [ ${#lacking[@]} -eq 0 ] && return
  {
    echo "the package names of this system are not known here (Debian 12 and Ubuntu 24.04 are)."
    echo "missing: ${lacking[*]}"
    echo "install these (Boost 1.81 or later), then run the same command again."
  } >&2
  return 1
}
