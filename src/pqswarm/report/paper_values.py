"""The numbers printed in the paper.

F. Hafiz, A. Swain, C. Naik, N. Patel, "Efficient feature selection of power quality events using two dimensional
(2D) particle swarms", Applied Soft Computing 81 (2019).
"""

from typing import Any

ALGORITHMS: tuple[str, ...] = ("GA", "ACO", "BPSO", "CBPSO", "chBPSO", "2D-UPSO")

HYPERPARAMETERS: dict[str, dict[str, Any]] = {
    "k-nn": {"n_neighbors": 3, "metric": "manhattan"},
    "kernel-nb": {"bandwidth": 0.004},
}
"""Those of the paper, by kind of classifier."""

# A line is a name and what was printed for each of ALGORITHMS. Ranks are followed by the Friedman statistic and its
# p-value; z, p and limit, which the paper calls APV, are comparisons with the last of ALGORITHMS, by error and by size;
# sffs is the size, the error of SFFS and that of 2D-UPSO; noise at a level [dB] is Theta(U), accuracies and gains [%];
# all is J(U).
PRINTED: dict[str, str] = {
    "k-nn": """
    mean_J             0.0161   0.0147 0.00552 0.00558   0.0094 0.0044
    sd_J               1.1e-3   1.3e-3  4.6e-4  5.3e-4   7.6e-4 1.1e-3
    PI                   53.1     57.1    83.9    83.7     72.5   87.0
    mean_size            47.6     45.7    39.8    38.7     41.1   20.9
    sd_size               5.0      5.3     4.3     4.9      4.4    7.0
    Xi                   52.0     53.9    59.8    60.9     58.5   78.9
    score              0.3096   0.2719  0.0892  0.0879   0.1571 0.0399
    rank-error            5.9      5.2     2.3     2.4      4.0    1.3 182.66 1.23e-10
    rank-size             5.2      4.9     3.3     2.9      3.7    1.0 130.25 7.95e-11
    z-error             10.88     9.20    2.42    2.60     6.45
    p-error          1.49e-27 3.47e-20 1.55e-2 9.33e-3 1.09e-10
    limit-error        0.0100   0.0125  0.0500  0.0250   0.0167
    z-size              10.07     9.17    5.32    4.60     6.33
    p-size           7.51e-24 4.58e-20 1.04e-7 4.19e-6 2.38e-10
    limit-size         0.0100   0.0125  0.0250  0.0500   0.0167
    sffs                   10   0.0056  0.0029
    noise-inf        96.57 98.39 98.65 99.47 99.50 99.21 99.68   1.82  2.08  2.90  2.93  2.64  3.11
    noise-50         94.82 96.78 97.51 97.83 97.51 97.54 98.86   1.96  2.69  3.02  2.69  2.72  4.04
    noise-45         94.61 95.98 97.30 97.48 97.24 96.95 98.77   1.38  2.70  2.87  2.64  2.35  4.16
    noise-40         93.55 95.40 96.31 96.86 96.45 95.95 98.48   1.85  2.76  3.31  2.91  2.41  4.93
    noise-35         92.55 94.40 95.48 96.13 95.51 95.04 97.86   1.84  2.93  3.57  2.96  2.49  5.30
    noise-30         91.86 93.70 94.34 94.58 94.28 93.79 96.34   1.85  2.49  2.72  2.43  1.93  4.48
    noise-25         89.56 91.23 90.30 91.38 91.59 91.29 93.84   1.67  0.73  1.82  2.02  1.73  4.28
    noise-20         85.46 86.04 86.13 86.66 86.45 86.45 88.48   0.59  0.67  1.20  0.99  1.00  3.02
    contrast-GA             0  -0.6658  -1.078 -0.8050  -0.5517 -2.759
    contrast-ACO       0.6658        0 -0.4125 -0.1392   0.1142 -2.093
    contrast-BPSO       1.078   0.4125       0  0.2733   0.5267 -1.681
    contrast-CBPSO     0.8050   0.1392 -0.2733       0   0.2533 -1.954
    contrast-chBPSO    0.5517  -0.1142 -0.5267 -0.2533        0 -2.208
    contrast-2D-UPSO    2.759    2.093   1.681   1.954    2.208      0
    all                0.0343
    """,
    "kernel-nb": """
    mean_J             0.0136   0.0128 0.00663 0.00652   0.0095  0.0061
    sd_J               7.7e-4   8.5e-4  1.1e-3  3.3e-4   5.9e-4  2.5e-4
    PI                   31.8     35.6    66.7    67.3     52.4    69.4
    mean_size            49.3     49.0    43.0    43.8     46.3    37.0
    sd_size               3.8      4.8     4.2     3.8      4.0     4.4
    Xi                   50.3     50.6    56.6    55.8     53.3    62.6
    score              0.2707   0.2546  0.1156  0.1156   0.1776  0.0913
    rank-error            5.7      5.3     2.3     2.5      4.0     1.2 181.58 8.16e-11
    rank-size             4.9      4.8     2.9     3.2      3.9     1.3 101.06 9.26e-11
    z-error             10.79     9.71    2.69    3.08     6.54
    p-error          3.97e-27 2.70e-22 7.16e-3 2.09e-3 5.99e-11
    limit-error        0.0100   0.0125  0.0500  0.0250   0.0167
    z-size               8.46     8.25    3.71    4.48     6.13
    p-size           2.76e-17 1.62e-16 2.11e-4 7.39e-6 9.04e-10
    limit-size         0.0100   0.0125  0.0500  0.0250   0.0167
    sffs                   30   0.0070  0.0056
    noise-inf        98.01 98.77 98.74 99.38 99.36 99.09 99.44   0.76  0.73  1.38  1.35  1.08  1.43
    noise-50         97.30 97.63 97.54 97.92 97.95 97.60 98.04   0.32  0.23  0.62  0.64  0.29  0.73
    noise-45         97.04 97.36 97.16 97.45 97.39 97.39 97.45   0.32  0.12  0.41  0.35  0.35  0.41
    noise-40         96.34 96.45 96.75 96.66 96.51 96.48 96.95   0.12  0.41  0.32  0.18  0.15  0.62
    noise-35         95.66 95.54 95.72 95.84 95.34 95.60 96.36  -0.12  0.06  0.18 -0.32 -0.06  0.70
    noise-30         94.28 94.78 94.05 94.58 93.72 93.99 95.10   0.50 -0.24  0.29 -0.56 -0.30  0.82
    noise-25         92.67 92.58 92.29 92.52 92.11 92.35 93.87  -0.09 -0.38 -0.15 -0.56 -0.32  1.20
    noise-20         89.62 89.94 89.68 90.15 89.77 90.00 91.41   0.32  0.06  0.53  0.14  0.38  1.79
    contrast-GA             0   0.0925 -0.2042  0.1025   0.0017 -0.6025
    contrast-ACO      -0.0925        0 -0.2967    0.01  -0.0908 -0.6950
    contrast-BPSO      0.2042   0.2967       0  0.3067   0.2058 -0.3983
    contrast-CBPSO    -0.1025    -0.01 -0.3067       0  -0.1008 -0.7050
    contrast-chBPSO   -0.0017   0.0908 -0.2058  0.1008        0 -0.6042
    contrast-2D-UPSO   0.6025   0.6950  0.3983  0.7050   0.6042       0
    all                0.0199
    """,
}
"""The paper's tables, by kind of classifier."""

INCONSISTENCIES: tuple[str, ...] = (
    "The printed p-values of the Friedman test (about 1e-10) cannot come from the printed statistics: the chi-square "
    "distribution with five degrees of freedom gives 1.4e-37, 2.1e-26, 2.5e-37 and 3.2e-20. They are a rounding "
    "artefact of the tool used. The conclusion stands.",
    "The column APV of the post hoc tables holds 0.05/i, not adjusted p-values. Here both are shown under their "
    "correct names.",
    "The best 2D-UPSO subset with k-NN has an error of 0.0029 in the comparison with SFFS, but an accuracy of 99.68 % "
    "(0.0032) without noise: the two stages used different folds, as ours do.",
    "The printed PI, Xi and theta were computed from unrounded values: PI and Xi can differ by 0.2 from values "
    "computed from the printed means, theta by 0.01 from the difference of the printed accuracies.",
    "With the kernel bandwidth of 0.004 plain densities underflow for most events; the paper does not say how this was "
    "handled. Here all densities are computed as logarithms, which do not underflow.",
    "The printed accuracies do not match the 3500 events stated in the paper. Of the 112 accuracies at the eight noise "
    "levels, 38 (34 %) are multiples of 1/3500 to the printed digit, as expected by chance (35 %); 103 (92 %) are "
    "multiples of 1/3411, more than of 1/N for any other N from 3000 to 4000. About 3411 events seem to have been "
    "classified; the paper does not say which are missing.",
    "The random numbers r1, r2 of the velocities seem to be one pair per particle; here each element of a velocity has "
    "its own (our choice). Catfish particles are “reinitialized”; here they move to all features or to none (our "
    "choice). The options randomness and catfish_positions follow the paper literally.",
    "The paper does not say how the parameters of the events were drawn. Uniform draws over the printed ranges (our "
    "preset paper) give harder events than the paper's: errors are several times larger. Draws in a few steps, with "
    "one laboratory circuit (our preset paper-stepped, found by trying many readings), give errors of all features "
    "like the paper's.",
)
"""Inconsistencies and gaps of the paper that matter for a comparison."""
