"""The selection core: it imports nothing else of the package, and works without what the others need."""

import subprocess
import sys
import textwrap
from pathlib import Path

PROGRAM = """
    import pickle, sys
    from tests.core_alone import BLOCKED, block
    block()
    from sklearn.datasets import load_wine
    from pqswarm.errors import PqswarmError
    from pqswarm.selector import EarlyStopping, ProgressBar, SwarmSelector, nested_score

    X, y = load_wine(return_X_y=True)
    callbacks = [ProgressBar(), EarlyStopping(score=1.1)]
    options = {"max_features": None, "random_state": 0, "storage": sys.argv[1], "callbacks": callbacks}
    SwarmSelector(max_evaluations=60, **options).fit(X, y)
    resumed = SwarmSelector(max_evaluations=300, **options).fit(X, y)
    assert resumed.n_evaluations_ == 300
    whole = SwarmSelector(max_evaluations=300, max_features=None, random_state=0).fit(X, y)
    assert (whole.support_ == resumed.support_).all() and (whole.subsets_ == resumed.subsets_).all()
    again = pickle.loads(pickle.dumps(whole))
    assert (again.predict(X) == whole.predict(X)).all() and whole.score(X, y) > 0.9
    assert nested_score(SwarmSelector(max_evaluations=30, random_state=0), X, y, cv=2).score > 0.8
    assert "the front" in whole._repr_html_()
    try:
        whole.plot_front()
    except PqswarmError as error:
        assert "pip install matplotlib" in str(error)
    else:
        raise AssertionError("matplotlib is not blocked")
    loaded = {name.partition(".")[0] for name in sys.modules}
    assert not loaded & set(BLOCKED)
    print(*sorted({name.split(".")[1] for name in sys.modules if name.startswith("pqswarm.")}))
"""


def test_fits_predicts_pickles_stores_and_resumes_without_other_packages(tmp_path):
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(tmp_path / "search.npz")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    assert done.returncode == 0, done.stderr
    assert "300/300" in done.stderr
    assert set(done.stdout.split()) <= {"_base", "_kernels", "errors", "evaluation", "search", "selector"}
