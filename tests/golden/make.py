"""Write the golden numbers anew: only when streams or definitions were changed on purpose.

python -m tests.golden.make
"""

import json
from pathlib import Path

import numpy as np

from pqswarm.datasets import make_dataset
from pqswarm.events import PRESETS


def golden(preset):
    dataset = make_dataset(4, snr=(float("inf"), 30.0), seed=1, preset=preset)
    columns = {
        name: np.round(dataset.features[:, :, dataset.feature_names.index(name)], 12).tolist()
        for name in ("D3.deviation", "A8.entropy")
    }
    return {
        "seeds": dataset.seeds.tolist(),
        "source": dataset.source.tolist(),
        "parameter_sums": np.nansum(dataset.parameters, axis=1).tolist(),
        **columns,
    }


if __name__ == "__main__":
    numbers = {preset: golden(preset) for preset in PRESETS}
    (Path(__file__).parent / "dataset.json").write_text(json.dumps(numbers, indent=1) + "\n")
