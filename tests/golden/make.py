"""Print the golden numbers anew: only when streams or definitions were changed on purpose.

python -m tests.golden.make > tests/golden/dataset.json
"""

import hashlib
import json
import sys

import numpy as np

from pqswarm.datasets import make_dataset
from pqswarm.events import PRESETS


def golden(preset):
    """Digests to the last bit, and some numbers that say what moved."""
    dataset = make_dataset(4, snr=(float("inf"), 30.0), seed=1, preset=preset)
    signals = b"".join(dataset.event(number).signal.tobytes() for number in range(len(dataset)))
    columns = {
        name: dataset.features[:, :, dataset.feature_names.index(name)].tolist()
        for name in ("D3.deviation", "A8.entropy")
    }
    return {
        "signals": hashlib.sha256(signals).hexdigest(),
        "features": hashlib.sha256(dataset.features.tobytes()).hexdigest(),
        "seeds": dataset.seeds.tolist(),
        "source": dataset.source.tolist(),
        "parameter_sums": np.nansum(dataset.parameters, axis=1).tolist(),
        **columns,
    }


def compute_golden():
    """The golden numbers of all presets."""
    return {preset: golden(preset) for preset in PRESETS.built_in}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(compute_golden(), indent=1) + "\n")
