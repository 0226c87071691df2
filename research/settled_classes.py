"""Which is right where rules and model differ, counted on events of another published model.

    python research/settled_classes.py --write            # the table by which the package settles on one class
    python research/settled_classes.py --seed 2000        # a test with other events

The events are those of `reliability.py`: a sampling rate, noise, background distortion and a nominal voltage at random.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/ is not part of the package

from reliability import draw_recording
from tests.reference.disturbances import CLASSES, LABELS

from pqswarm.errors import PqswarmError
from pqswarm.identify import agreement, identify

TABLE = Path(agreement.__file__).with_name("settled.json")
ASKED = tuple(name for name in CLASSES if not name.startswith(("normal", "sag", "swell", "interruption")))
"""The class of the others follows from measurements alone."""
COMMAND = "python research/settled_classes.py --write"


def count_pairs(per_class: int, seed: int) -> tuple[dict[str, tuple[int, int]], tuple[int, ...]]:
    """Events in which rules and model were right, where they differ, by pair; all, and those right by each."""
    pairs: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    totals = [0, 0, 0, 0]
    for name in ASKED:
        for number in range(per_class):
            recording, nominal, _ = draw_recording(name, number, seed)
            try:
                main = identify(recording, nominal_voltage=nominal).main
            except PqswarmError:
                continue
            if main is None or not main.model_label:
                continue
            right = [label in LABELS[name] for label in (main.rule_label, main.model_label, main.label)]
            totals = [one + more for one, more in zip(totals, (1, *right), strict=True)]
            if main.rule_label != main.model_label:
                pairs[f"{main.rule_label}, {main.model_label}"].append((right[0], right[1]))
    counts = {pair: (sum(a for a, _ in found), sum(b for _, b in found)) for pair, found in sorted(pairs.items())}
    return counts, tuple(totals)


def main() -> None:
    """Print the pairs and the share right, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--per-class", type=int, default=150, metavar="N", help="events of each class")
    parser.add_argument("--seed", type=int, default=101, help="2000 and above test the table")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name} of the package")
    given = parser.parse_args()
    pairs, (total, *right) = count_pairs(given.per_class, given.seed)
    for pair, (rules, model) in pairs.items():
        print(f"{pair:60} rules right in {rules:4}, model in {model:4}")
    said = ", ".join(
        f"{name} {100 * n / max(total, 1):.1f} %" for name, n in zip(("rules", "model", "settled"), right, strict=True)
    )
    print(f"{total} events that the model was asked for: {said}")
    if given.write:
        lines = ",\n".join(f"  {json.dumps(pair)}: {list(counts)}" for pair, counts in pairs.items())
        head = json.dumps({"command": COMMAND, "seed": given.seed, "per_class": given.per_class}, indent=1)
        TABLE.write_text(f'{head[:-2]},\n "pairs": {{\n{lines}\n }}\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
