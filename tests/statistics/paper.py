"""What the paper prints: its tables of the statistical tests, and the accuracies that the contrasts stand on.

The sums of ranks are not printed. They were recovered from the test statistics: no others give all printed digits.
"""

import json
from pathlib import Path

NAMES = ("GA", "ACO", "BPSO", "CBPSO", "chBPSO", "2D-UPSO")
N_RUNS = 40

_READ = json.loads(Path(__file__).with_name("paper.json").read_text(encoding="utf-8"))
PRINTED = _READ["printed"]
"""The tables of the paper, line by line as they are printed.

Search performance (mean, SD and PI of J, mean, SD and Xi of the size, overall score); Friedman of J and size; Hommel's
table; SFFS; Theta(U), Theta and theta at eight noise levels; contrast estimation.
"""

TABLES = {"k-NN": PRINTED["k-nn"], "NB": PRINTED["kernel-nb"]}
LINES = {name: [tuple(line.split()) for line in lines] for name, lines in TABLES.items()}

RECOVERED = _READ["recovered"]
"""Of each Friedman test: sums of ranks, the true p, and Hommel's true APVs."""


def _test(name):
    """Sums of ranks, then as printed mean ranks, chi2, z, p and "APV"; then Hommel's true APVs."""
    classifier, measure = name.split()
    place = ("J", "xi").index(measure)
    *mean_ranks, chi2, _ = LINES[classifier][7 + place]
    z, p, printed = zip(*(line[3 * place : 3 * place + 3] for line in LINES[classifier][9:14]), strict=True)
    return RECOVERED[name] | {"mean_ranks": tuple(mean_ranks), "chi2": chi2, "z": z, "p": p, "printed_apv": printed}


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
