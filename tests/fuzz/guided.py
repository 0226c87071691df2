"""Mutations guided by coverage: cases that reach new lines of code are kept, and mutated again (libFuzzer, by atheris).

Workers, limits, checks and findings are those of the plain fuzzing; what differs is how the next case is chosen. Cases
depend on the seed and on the time that others took: a finding is repeated by its files, not by its number.
"""

import json
import os
import random
import sys
import time
import zlib

from tests.fuzz import harness
from tests.fuzz.generate import generate
from tests.fuzz.mutations import MUTATORS

LONGEST = 400_000
"""Bytes of a case, packed."""


def pack(target, files):
    """A case as bytes."""
    return json.dumps([target, {name: content.decode("latin-1") for name, content in files.items()}]).encode()


def unpack(data):
    """The case of bytes; None if there is none."""
    try:
        target, files = json.loads(data)
    except ValueError:
        return None
    return target, {name: content.encode("latin-1") for name, content in files.items()}


class GuidedCampaign(harness.Campaign):
    """A campaign whose workers ask libFuzzer for the next case and share their corpus."""

    def _work(self, worker, number):
        import atheris

        harness.limit_process(self.limits)
        kept = self.folder / "kept"
        kept.mkdir(exist_ok=True)
        if not any(kept.iterdir()):
            for target in self.targets:
                for place, files in enumerate(self.seeds[target]):
                    (kept / f"{target}-{place}").write_bytes(pack(target, files))
        left = min(max(int(self.end - time.monotonic()), 1), 10**6)
        runs = min(harness.RECYCLED, (self.first + self.files - number) // self.workers + 1)
        options = [f"-seed={1 + self.seed * 1000 + number % 997}", f"-max_total_time={left}", f"-runs={runs}"]
        options += [f"-max_len={LONGEST}", "-len_control=0", "-timeout=100000", "-rss_limit_mb=0", "-verbosity=0"]
        options += [f"-artifact_prefix={self.folder}/", "-report_slow_units=100000"]  # nothing in the user's folder
        self.worker, self.number = worker, number
        self.board.enter(worker, number, -1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # where libFuzzer reports
        atheris.Setup([sys.argv[0], *options, str(kept)], self._try, custom_mutator=self._mutate)
        atheris.Fuzz()
        return 0

    def _try(self, data):
        case = unpack(data)
        if case is None or case[0] not in self.targets:
            return
        self._try_case(self.worker, self.number, *case, random.Random(zlib.crc32(data)))
        self.number += self.workers
        self.board.enter(self.worker, self.number, -1)

    def _mutate(self, data, most, seed):
        rng = random.Random(seed)
        case = unpack(data)
        if case is None or case[0] not in self.targets or rng.random() < 0.05:
            target = rng.choice(self.targets)
            case = target, generate(target, rng) or rng.choice(self.seeds[target])
        target, files = case
        try:
            changed = pack(target, MUTATORS[target](files, rng))
        except (KeyError, StopIteration):  # files of other names
            changed = pack(target, rng.choice(self.seeds[target]))
        return changed if len(changed) <= most else data[:most]

    def _after(self, worker, status):
        following = super()._after(worker, status)
        number = self.board.current(worker)[0]
        is_over = time.monotonic() > self.end - 1 or number >= self.first + self.files
        return None if is_over else number if following is None else following
