"""Build a release and test it: ``make release`` leaves wheel, source archive, SBOM and digests in ``dist``.

Both archives are built twice, in different folders, and must have the same digests. Each is then installed into a
fresh environment, where a recording is analyzed. The SBOM (CycloneDX 1.6, JSON) lists the environment of the wheel with
all extras of users.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import uuid
import venv
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = "app,dask,parquet"
LISTING = """
import json
from importlib.metadata import distributions
print(json.dumps([
    [d.metadata["Name"], d.version, d.metadata.get("License-Expression") or d.metadata.get("License") or "",
     [c.rpartition(" :: ")[2] for c in d.metadata.get_all("Classifier") or [] if c.startswith("License ::")],
     d.requires or []]
    for d in distributions()
]))
"""


def run(*command, cwd=ROOT, **environment):
    """The output of a command, which must succeed."""
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def release_time():
    """Seconds since 1970 of the last commit, which all files of the archives carry."""
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "1577836800"


def build(folder, seconds, mask):
    """A source archive, and a wheel built from it: both as files."""
    before = os.umask(mask)
    try:
        settings = {"SOURCE_DATE_EPOCH": seconds}
        run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder / "out", **settings)
        (archive,) = (folder / "out").glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(folder / "unpacked", filter="data")
        (source,) = (folder / "unpacked").iterdir()
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "out", cwd=source, **settings)
    finally:
        os.umask(before)
    return sorted((folder / "out").iterdir())


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fresh_environment(folder, *requirements, constraints=True):
    """A new environment with some packages: its Python."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    limits = ("--constraint", ROOT / "constraints.txt") if constraints else ()
    run(python, "-m", "pip", "install", "--quiet", "--no-compile", *limits, *requirements)
    return python


def try_it(python, folder, version):
    """Analyze a recording with an installed package."""
    folder.mkdir()
    quiet = {"PYTHONPATH": ""}
    assert run(python, "-m", "pqswarm", "--version", cwd=folder, **quiet) == f"pqswarm {version}\n"
    run(python, "-m", "pqswarm", "make-samples", "samples", cwd=folder, **quiet)
    told = run(python, "-m", "pqswarm", "identify", "samples/sag.cfg", "--csv", "events.csv", cwd=folder, **quiet)
    assert "sag" in told
    assert "sag" in (folder / "events.csv").read_text()


def component(name, version, text, classifiers):
    """A package as CycloneDX describes it; a licence that is not one short expression is given by its name."""
    words = text.strip().splitlines()[0] if text.strip() else ", ".join(classifiers)
    licence = {"licenses": [{"license": {"name": words}}]} if words else {}
    reference = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
    return {"type": "library", "bom-ref": reference, "name": name, "version": version, "purl": reference} | licence


def bill_of_materials(python, wheel, seconds):
    """What is installed with the package, as CycloneDX 1.6."""
    found = {row[0].lower().replace("_", "-"): row for row in json.loads(run(python, "-c", LISTING))}
    parts = {key: component(*row[:4]) for key, row in sorted(found.items()) if key not in ("pip", "setuptools")}
    own = parts.pop("pqswarm") | {"hashes": [{"alg": "SHA-256", "content": digest(wheel)}]}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest(wheel))}",
        "version": 1,
        "metadata": {"timestamp": datetime.fromtimestamp(int(seconds), UTC).isoformat(), "component": own},
        "components": list(parts.values()),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the results")
    parser.add_argument("--offline", action="store_true", help="only build, twice; install nothing")
    options = parser.parse_args()
    seconds = release_time()
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        first, second = (build(here / word, seconds, mask) for word, mask in (("one", 0o022), ("another", 0o077)))
        assert [digest(path) for path in first] == [digest(path) for path in second], "two builds differ"
        options.out.mkdir(parents=True, exist_ok=True)
        files = [options.out / path.name for path in first]
        for path, kept in zip(first, files, strict=True):
            kept.write_bytes(path.read_bytes())
        wheel = next(path for path in files if path.suffix == ".whl")
        version = wheel.name.split("-")[1]
        print(f"two builds have the same digests: {', '.join(path.name for path in files)}")
        if not options.offline:
            for path in files:
                extras = f"[{EXTRAS}]" if path is wheel else ""
                python = fresh_environment(here / f"venv-{path.suffix[1:]}", f"{path}{extras}")
                try_it(python, here / f"work-{path.suffix[1:]}", version)
                print(f"{path.name}: installed into a fresh environment, a recording analyzed")
                if path is wheel:
                    bill = bill_of_materials(python, wheel, seconds)
            files.append(options.out / f"pqswarm-{version}.cdx.json")
            files[-1].write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
            print(f"SBOM: {len(bill['components'])} packages")
            tools = fresh_environment(here / "tools", "twine", constraints=False)
            print(run(tools, "-m", "twine", "check", "--strict", *files[:2]).strip())
        lines = [f"{digest(path)}  {path.name}\n" for path in files]
        (options.out / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
        print(f"written to {options.out}")


if __name__ == "__main__":
    main()
