# Sourced by ./run, ./test and bench/run: installs what is missing and tells what the machine is.
# Tools come from Debian's (or Ubuntu's) own packages; what the Python tests need, from PyPI into .venv.

build_packages=(g++ cmake ninja-build ccache mold libxbyak-dev zlib1g-dev libjpeg-dev libpng-dev)
test_packages=(libgtest-dev librapidcheck-dev python3 clang-format clang-tidy)
python_packages=(python3-dev python3-venv)
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

# python_environment: .venv with what the Python tests need; $python is its interpreter.
python_environment() {
  python=$PWD/.venv/bin/python
  local wanted='numpy pytest hypothesis ruff'
  [[ -x $python ]] || python3 -m venv .venv
  if [[ ! -f .venv/gradus-has || $(<.venv/gradus-has) != "$wanted" ]]; then
    say "Installing from PyPI into .venv: $wanted"
    # shellcheck disable=SC2086
    "$python" -m pip install --quiet --disable-pip-version-check $wanted
    echo "$wanted" >.venv/gradus-has
  fi
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
