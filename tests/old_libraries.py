"""Environment variables that make NumPy and the C library work as on an old processor."""

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

OLD_LIBRARIES = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name]),
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX2_Usable,-FMA_Usable,-AVX512F_Usable",
}
