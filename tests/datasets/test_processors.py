"""Data sets are what they were, to the last bit, on every processor and with every C library."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

TESTS = Path(__file__).parents[1]
MACHINES = {
    "this one": {},
    "NumPy without wide vectors": {
        "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name])
    },
    "a C library without fused products": {
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX2_Usable,-FMA_Usable,-AVX512F_Usable"
    },
    "Numba for any processor of the family": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
}


@pytest.mark.parametrize("machine", MACHINES)
def test_golden_numbers(machine):
    """Streams and definitions stay what they were: seeds in papers must keep their meaning."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.golden.make"],
        env={**os.environ, **MACHINES[machine]},
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(run.stdout) == json.loads((TESTS / "golden" / "dataset.json").read_text())
