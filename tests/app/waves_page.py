"""A page with the waveform viewer alone, over waves that the page itself makes."""

import json
from pathlib import Path

from pqswarm._web import VIEWER, read_scripts, read_styles

PROVIDER = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def write_page(path, names=("UA", "UB", "UC", "IA"), title="sag on phase A"):
    """Write the page: ten seconds of three voltages and a current, phase A at half from 2.0 to 2.5 s."""
    channels = [
        {"name": name, "unit": "A" if i == 3 else "V", "phase": "ABCA"[i], "kind": "current" if i == 3 else "voltage"}
        for i, name in enumerate(names)
    ]
    header = {"name": names[0], "start": "2026-03-04T05:06:07.089000", "seconds": 10, "n_samples": 64_000}
    header |= {"sampling_rate": 6400, "nominal_frequency": 50, "channels": channels}
    header["status"] = [
        {"name": f"{names[0]} trip", "changes": [[0, 0], [2.1, 1], [2.5, 0]]},
        {"name": "spare", "changes": [[0, 0]]},
    ]
    events = [
        {"start": 2.0, "end": 2.5, "type": "sag", "title": title, "index": 7},
        {"start": 6.0, "end": 6.0, "type": "transient", "title": "transient", "index": 9},
    ]
    data = f"const header = {json.dumps(header)}, events = {json.dumps(events)};".replace("<", "\\u003c")
    style = read_styles("colors.css", "base.css", "waves.css") + "body { padding: 10px; }"
    path.write_text(
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<link rel="icon" href="data:,"><title>waves</title><style>{style}</style><div id=holder></div>'
        f"<script>{read_scripts(*VIEWER)}</script><script>{data}{PROVIDER}</script>",
        encoding="utf-8",
    )
    return path
