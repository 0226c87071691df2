"""Causes of simulated incidents: what `identify` says of those that `network.draw_incident` draws.

    python research/network_causes.py                                  # 20 of each cause, seed 7, 6.4 kHz
    python research/network_causes.py --seed 1000 --count 100 --currents

The network shares no code with the events of `causes.py`. Seeds below 1000 are for development. Rows are incidents per
record. The cause is that of the first one.
"""

import argparse
from collections import Counter

import numpy as np
from network import INCIDENT_CAUSES, SimulatedIncident, draw_incident

from pqswarm.identify import identify
from pqswarm.recordings import Channel, Recording


def recording_of(incident: SimulatedIncident, *, currents: bool) -> Recording:
    """The incident as a recording in memory."""
    channels = [Channel(f"U{p}", "V", p, wave) for p, wave in zip("ABC", incident.voltages, strict=True)]
    if currents:
        channels += [Channel(f"I{p}", "A", p, wave) for p, wave in zip("ABC", incident.currents, strict=True)]
    return Recording(tuple(channels), incident.sample_rate, incident.frequency, source=incident.cause)


def main() -> None:
    """Print how often each cause is given to the incidents of each cause."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7, help="1000 and above for the final figures")
    parser.add_argument("--count", type=int, default=20, metavar="N", help="incidents of each cause")
    parser.add_argument("--rate", type=float, default=6400.0, metavar="HZ")
    parser.add_argument("--nominal", action="store_true", help="give the nominal voltage")
    parser.add_argument("--currents", action="store_true", help="give the currents as well")
    given = parser.parse_args()
    for number, cause in enumerate(INCIDENT_CAUSES):
        said: Counter[str] = Counter()
        rows = 0
        for i in range(given.count):
            rng = np.random.default_rng([given.seed, number, i])
            incident = draw_incident(cause, rng, sample_rate=given.rate)
            recording = recording_of(incident, currents=given.currents)
            nominal = incident.nominal if given.nominal else None
            incidents = identify(recording, nominal_voltage=nominal).as_dict()["incidents"]
            said[incidents[0]["cause"] if incidents else "none"] += 1
            rows += len(incidents)
        others = ", ".join(f"{name} {count}" for name, count in said.most_common() if name != cause)
        print(f"{cause:24}{said[cause]:5} of {given.count}, {rows / given.count:.2f} rows   {others}", flush=True)


if __name__ == "__main__":
    main()
