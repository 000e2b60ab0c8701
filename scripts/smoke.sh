#!/usr/bin/env bash
# Run the tests marked `smoke` on another Python: scripts/smoke.sh 3.13
# Ends with success, and says so, when that Python is not on this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?"usage: scripts/smoke.sh 3.13"}
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

python=$(find_python)
if [[ -z $python ]]; then
    echo "==> smoke: no Python $version on this machine; left out"
    exit 0
fi
if [[ ! $venv/.installed -nt pyproject.toml ]]; then
    echo "==> set-up: $venv"
    [[ -x $venv/bin/python ]] || "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        -e . 'pytest>=8.3,<10' 'hypothesis>=6.100,<7' 'scipy>=1.14,<2' \
        'array-api-strict>=2.6,<3' 'rich>=13.7,<16'
    touch "$venv/.installed"
fi
echo "==> smoke: tests marked smoke on Python $version"
"$venv/bin/python" -m pytest -q -m smoke tests --ignore=tests/benchmarks --ignore=tests/examples
