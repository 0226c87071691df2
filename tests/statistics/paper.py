"""What the paper prints: its tables of the statistical tests, and the accuracies that the contrasts stand on.

The sums of ranks are not printed. They were recovered from the test statistics: no others give all printed digits.
"""

NAMES = ("GA", "ACO", "BPSO", "CBPSO", "chBPSO", "2D-UPSO")
N_RUNS = 40

# The tables of the paper, line by line as they are printed. Search performance (mean, SD and PI of J, mean, SD and Xi
# of the size, overall score); Friedman of J and size; Hommel's table; SFFS; Theta(U), Theta and theta at eight noise
# levels; contrast estimation.
PRINTED = {
    "k-nn": """
        0.0161 0.0147 0.00552 0.00558 0.0094 0.0044
        1.1e-3 1.3e-3 4.6e-4 5.3e-4 7.6e-4 1.1e-3
        53.1 57.1 83.9 83.7 72.5 87.0
        47.6 45.7 39.8 38.7 41.1 20.9
        5.0 5.3 4.3 4.9 4.4 7.0
        52.0 53.9 59.8 60.9 58.5 78.9
        0.3096 0.2719 0.0892 0.0879 0.1571 0.0399
        5.9 5.2 2.3 2.4 4.0 1.3 182.66 1.23E-10
        5.2 4.9 3.3 2.9 3.7 1.0 130.25 7.95E-11
        10.88 1.49E-27 0.0100 10.07 7.51E-24 0.0100
        9.20 3.47E-20 0.0125 9.17 4.58E-20 0.0125
        2.42 1.55E-02 0.0500 5.32 1.04E-07 0.0250
        2.60 9.33E-03 0.0250 4.60 4.19E-06 0.0500
        6.45 1.09E-10 0.0167 6.33 2.38E-10 0.0167
        10 0.0056 0.0029
        96.57 98.39 98.65 99.47 99.50 99.21 99.68
        1.82 2.08 2.90 2.93 2.64 3.11
        94.82 96.78 97.51 97.83 97.51 97.54 98.86
        1.96 2.69 3.02 2.69 2.72 4.04
        94.61 95.98 97.30 97.48 97.24 96.95 98.77
        1.38 2.70 2.87 2.64 2.35 4.16
        93.55 95.40 96.31 96.86 96.45 95.95 98.48
        1.85 2.76 3.31 2.91 2.41 4.93
        92.55 94.40 95.48 96.13 95.51 95.04 97.86
        1.84 2.93 3.57 2.96 2.49 5.30
        91.86 93.70 94.34 94.58 94.28 93.79 96.34
        1.85 2.49 2.72 2.43 1.93 4.48
        89.56 91.23 90.30 91.38 91.59 91.29 93.84
        1.67 0.73 1.82 2.02 1.73 4.28
        85.46 86.04 86.13 86.66 86.45 86.45 88.48
        0.59 0.67 1.20 0.99 1.00 3.02
        0 -0.6658 -1.078 -0.8050 -0.5517 -2.759
        0.6658 0 -0.4125 -0.1392 0.1142 -2.093
        1.078 0.4125 0 0.2733 0.5267 -1.681
        0.8050 0.1392 -0.2733 0 0.2533 -1.954
        0.5517 -0.1142 -0.5267 -0.2533 0 -2.208
        2.759 2.093 1.681 1.954 2.208 0
    """,
    "kernel-nb": """
        0.0136 0.0128 0.00663 0.00652 0.0095 0.0061
        7.7e-4 8.5e-4 1.1e-3 3.3e-4 5.9e-4 2.5e-4
        31.8 35.6 66.7 67.3 52.4 69.4
        49.3 49.0 43.0 43.8 46.3 37.0
        3.8 4.8 4.2 3.8 4.0 4.4
        50.3 50.6 56.6 55.8 53.3 62.6
        0.2707 0.2546 0.1156 0.1156 0.1776 0.0913
        5.7 5.3 2.3 2.5 4.0 1.2 181.58 8.16E-11
        4.9 4.8 2.9 3.2 3.9 1.3 101.06 9.26E-11
        10.79 3.97E-27 0.0100 8.46 2.76E-17 0.0100
        9.71 2.70E-22 0.0125 8.25 1.62E-16 0.0125
        2.69 7.16E-03 0.0500 3.71 2.11E-04 0.0500
        3.08 2.09E-03 0.0250 4.48 7.39E-06 0.0250
        6.54 5.99E-11 0.0167 6.13 9.04E-10 0.0167
        30 0.0070 0.0056
        98.01 98.77 98.74 99.38 99.36 99.09 99.44
        0.76 0.73 1.38 1.35 1.08 1.43
        97.30 97.63 97.54 97.92 97.95 97.60 98.04
        0.32 0.23 0.62 0.64 0.29 0.73
        97.04 97.36 97.16 97.45 97.39 97.39 97.45
        0.32 0.12 0.41 0.35 0.35 0.41
        96.34 96.45 96.75 96.66 96.51 96.48 96.95
        0.12 0.41 0.32 0.18 0.15 0.62
        95.66 95.54 95.72 95.84 95.34 95.60 96.36
        -0.12 0.06 0.18 -0.32 -0.06 0.70
        94.28 94.78 94.05 94.58 93.72 93.99 95.10
        0.50 -0.24 0.29 -0.56 -0.30 0.82
        92.67 92.58 92.29 92.52 92.11 92.35 93.87
        -0.09 -0.38 -0.15 -0.56 -0.32 1.20
        89.62 89.94 89.68 90.15 89.77 90.00 91.41
        0.32 0.06 0.53 0.14 0.38 1.79
        0 0.0925 -0.2042 0.1025 0.0017 -0.6025
        -0.0925 0 -0.2967 0.0100 -0.0908 -0.6950
        0.2042 0.2967 0 0.3067 0.2058 -0.3983
        -0.1025 -0.0100 -0.3067 0 -0.1008 -0.7050
        -0.0017 0.0908 -0.2058 0.1008 0 -0.6042
        0.6025 0.6950 0.3983 0.7050 0.6042 0
    """,
}
TABLES = {"k-NN": PRINTED["k-nn"], "NB": PRINTED["kernel-nb"]}
LINES = {name: [tuple(line.split()) for line in text.strip().splitlines()] for name, text in TABLES.items()}

# Of each Friedman test: sums of ranks, the true p, and Hommel's true APVs.
RECOVERED = {
    "k-NN J": (
        (234, 206, 92.5, 95.5, 160, 52),
        "1.4E-37",
        ("7.45E-27", "1.39E-19", "1.55E-02", "1.55E-02", "3.26E-10"),
    ),
    "k-NN xi": (
        (209.5, 194.5, 130, 118, 147, 41),
        "2.1E-26",
        ("3.76E-23", "1.83E-19", "2.09E-07", "4.19E-06", "7.13E-10"),
    ),
    "NB J": (
        (229, 211, 93.5, 100, 158, 48.5),
        "2.5E-37",
        ("1.98E-26", "1.08E-21", "7.16E-03", "4.17E-03", "1.80E-10"),
    ),
    "NB xi": (
        (195, 191.5, 115.5, 128.5, 156, 53.5),
        "3.2E-20",
        ("1.38E-16", "6.49E-16", "2.11E-04", "1.48E-05", "2.71E-09"),
    ),
}


def _test(name):
    """Sums of ranks, then as printed mean ranks, chi2, z, p and "APV"; then Hommel's true APVs."""
    classifier, measure = name.split()
    sums, true_p, apvs = RECOVERED[name]
    place = ("J", "xi").index(measure)
    *mean_ranks, chi2, _ = LINES[classifier][7 + place]
    z, p, printed = zip(*(line[3 * place : 3 * place + 3] for line in LINES[classifier][9:14]), strict=True)
    found = {"rank_sums": sums, "mean_ranks": tuple(mean_ranks), "chi2": chi2, "true_p": true_p}
    return found | {"z": z, "p": p, "printed_apv": printed, "hommel": apvs}


TESTS = {name: _test(name) for name in RECOVERED}

# Accuracy [%] at infinity, 50, 45, 40, 35, 30, 25 and 20 dB.
ACCURACIES = {name: tuple(tuple(map(float, line[1:])) for line in lines[15:31:2]) for name, lines in LINES.items()}
CONTRASTS = {name: tuple(lines[31:]) for name, lines in LINES.items()}


def agrees(value: float, printed: str) -> bool:
    """Whether a value rounds to what is printed, whichever way a five is rounded."""
    mantissa, _, exponent = printed.partition("E")
    decimals = len(mantissa.partition(".")[2])
    unit = 10.0 ** (int(exponent or 0) - decimals)
    return abs(value - float(printed)) <= 0.5 * unit * (1 + 1e-9)
