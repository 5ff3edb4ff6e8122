# Sourced by ./run, ./test and bench/run: installs what is missing and tells what the machine is.
# Only Debian's (or Ubuntu's) own packages are used; nothing is downloaded from anywhere else.

build_packages=(g++ cmake ninja-build ccache mold libxbyak-dev zlib1g-dev)
test_packages=(libgtest-dev librapidcheck-dev python3 clang-format clang-tidy)
bench_packages=(libbenchmark-dev python3)

say() { printf '\n== %s\n' "$*"; }

install_missing() {
  if ! command -v dpkg-query >/dev/null; then
    echo "No dpkg here: please make sure that these are installed: $*"
    return
  fi
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local root=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "Missing packages: ${missing[*]}. Install them as root: apt-get install ${missing[*]}" >&2
      return 1
    fi
    root=(sudo)
  fi
  say "Installing with apt: ${missing[*]}"
  "${root[@]}" apt-get update -qq
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# build PRESET [OPTION...]: configures and builds what changed.
build() {
  cmake --preset "$@" >/dev/null
  cmake --build --preset "$1"
}

machine_facts() {
  local model flags isa=baseline
  model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
  flags=" $(sed -n 's/^flags[^:]*: //p' /proc/cpuinfo | head -n 1) "
  [[ $flags == *" avx2 "* && $flags == *" fma "* ]] && isa=avx2
  [[ $flags == *" avx512f "* && $flags == *" avx512vl "* ]] && isa=avx512
  echo "processor: ${model:-unknown}, $(nproc) cores, $isa; compiler: $(g++ --version | head -n 1)"
}
