#!/usr/bin/env bash
# Run tests on another Python, with the newest packages that it gets, in .venv-VERSION:
#   scripts/test_on.sh 3.13 smoke              the tests marked smoke; success when that Python is missing
#   scripts/test_on.sh 3.13 all [pytest args]  all tests and doctests
set -euo pipefail
cd "$(dirname "$0")/.."
usage="usage: scripts/test_on.sh 3.13 smoke|all [arguments of pytest]"
version=${1:?"$usage"}
wanted=${2:?"$usage"}
shift 2
venv=.venv-$version

is_wanted() { # the given command runs, and is the wanted version
    "$1" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" 2>/dev/null
}

find_python() {
    local candidate
    for candidate in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version"*/bin/python; do
        if command -v "$candidate" >/dev/null && is_wanted "$candidate"; then
            echo "$candidate"
            return
        fi
    done
}

install() { # install STAMP WHAT...: once, and again when pyproject.toml changes
    local stamp=$venv/$1
    shift
    if [[ ! $stamp -nt pyproject.toml ]]; then
        echo "==> set-up: $venv"
        [[ -x $venv/bin/python ]] || "$python" -m venv "$venv"
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
        touch "$stamp"
    fi
}

python=$(find_python)
if [[ -z $python && $wanted == smoke ]]; then
    echo "==> smoke: no Python $version on this machine; left out"
    exit 0
elif [[ -z $python ]]; then
    echo "no Python $version on this machine: put python$version on the PATH" >&2
    exit 1
fi
case $wanted in
smoke)
    install .installed -e . 'pytest>=8.3,<10' 'hypothesis>=6.100,<7' 'scipy>=1.14,<2' \
        'array-api-strict>=2.6,<3' 'rich>=13.7,<16'
    echo "==> smoke: tests marked smoke on Python $version"
    "$venv/bin/python" -m pytest -q -m smoke tests --ignore=tests/benchmarks --ignore=tests/examples
    ;;
all)
    install .installed-dev --upgrade --upgrade-strategy eager -e '.[dev]'
    echo "==> test: all tests on Python $version"
    "$venv/bin/python" -m pytest --dist worksteal "$@"
    ;;
*)
    echo "$usage" >&2
    exit 1
    ;;
esac
