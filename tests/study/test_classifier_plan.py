"""Classifiers in plans: by name with hyperparameters beside it, or by an import path; old keys still work."""

import pytest

from pqswarm.errors import PqswarmError
from pqswarm.evaluation import CLASSIFIERS, Classifier
from pqswarm.study import ClassifierPlan, format_plan, plan_text, read_plan
from pqswarm.study.plan_file import restore_plan

SMOKE = plan_text("smoke")
HEAD, _, ALGORITHMS = SMOKE.partition("[[algorithms]]")
HEAD = HEAD.partition("[[classifiers]]")[0]


def planned(*classifiers, head=HEAD):
    """The smoke plan with other classifiers."""
    parts = "".join(f"[[classifiers]]\n{text}\n" for text in classifiers)
    return read_plan(f"{head}{parts}[[algorithms]]{ALGORITHMS}", "my.toml")


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ('kind = "k-nn"\nn_neighbors = 5', {"n_neighbors": 5, "metric": "manhattan"}),
        ('kind = "k-nn"\nparameters = { n_neighbors = 5 }', {"n_neighbors": 5, "metric": "manhattan"}),
        ('kind = "k-nn"\nmetric = "euclidean"\nparameters.n_neighbors = 5', {"n_neighbors": 5, "metric": "euclidean"}),
        ('kind = "kernel-nb"\nbandwidth = 1', {"bandwidth": 1.0, "floor": 0.0, "underflow": False}),
        ('kind = "k-nn"', {}),
        ('kind = "gaussian-nb"', {}),
        (
            'estimator = "sklearn.svm.LinearSVC"\nparameters = { C = 0.5 }',
            {"estimator": "sklearn.svm.LinearSVC", "parameters": {"C": 0.5}},
        ),
        (
            'kind = "estimator"\nestimator = "sklearn.svm.LinearSVC"',
            {"estimator": "sklearn.svm.LinearSVC", "parameters": {}},
        ),
    ],
)
def test_hyperparameters_stand_beside_the_kind_or_in_a_table(text, settings):
    plan = planned(f'name = "one"\n{text}')
    (one,) = plan.classifiers
    assert one.parameters == settings
    assert isinstance(one.make(), Classifier)
    assert one.make() == one.make(one.make().settings)
    assert not settings or one.make().settings == settings
    assert read_plan(format_plan(plan)) == plan == restore_plan(plan.model_dump())


def test_ways_of_writing_the_same_are_the_same_plan():
    one = planned('name = "a"\nkind = "k-nn"\nn_neighbors = 3')
    other = planned('name = "a"\nkind = "k-nn"\nparameters = { metric = "manhattan", n_neighbors = 3 }')
    assert one == other
    assert one.differences(planned('name = "a"\nkind = "k-nn"\nn_neighbors = 4')) == [
        ("classifiers[a].parameters.n_neighbors", 3, 4)
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('kind = "kernel-bn"', "classifiers[0]: unknown classifier 'kernel-bn': did you mean 'kernel-nb'? Known: k-nn"),
        ("kind = 3", "classifiers[0].kind: must be text, not 3"),
        ("n_neighbors = 3", "classifiers[0].kind: is missing"),
        ('kind = "k-nn"\nsigma = 1', "classifiers[0]: unknown key 'sigma'. Known: name, id, kind, parameters, scaling"),
        ('kind = "k-nn"\nscalling = "once"', "classifiers[0]: unknown key 'scalling': did you mean 'scaling'?"),
        ('kind = "k-nn"\nn_neighbours = 3', "classifiers[0]: unknown key 'n_neighbours': did you mean 'n_neighbors'?"),
        ('kind = "k-nn"\nwidth = 0.1', "classifiers[0]: unknown key 'width'"),
        ('kind = "kernel-nb"\nmetric = "euclidean"', "classifiers[0]: unknown key 'metric'"),
        ('kind = "k-nn"\nestimator = "sklearn.svm.SVC"', "classifiers[0]: unknown key 'estimator'"),
        ('kind = "k-nn"\nparameters = 3', "classifiers[0].parameters: must be a table of keys, not 3"),
        ('kind = "k-nn"\nn_neighbors = 3\nparameters.n_neighbors = 3', "classifiers[0]: n_neighbors is given twice"),
        ('kind = "k-nn"\nparameters.k = 3', "unknown parameter 'k'"),
        ('kind = "k-nn"\nn_neighbors = 16', "n_neighbors must be an integer from 1 to 15"),
        ('kind = "kernel-nb"\nbandwidth = 0.0', "bandwidth must be a number from"),
        (
            'kind = "k-nn"\nscaling = "twice"',
            "classifiers[0].scaling: must be 'once', 'minmax', 'standard' or 'robust', not",
        ),
        ('kind = "k-nn"\ngrid_search = 1', "classifiers[0].grid_search: must be true or false, not 1"),
        ('kind = "estimator"', "estimator must be an import path such as sklearn.svm.LinearSVC"),
        ('estimator = "sklearn.svm.LinearSCV"', "classifiers[0]: unknown class of sklearn.svm 'LinearSCV': did you m"),
        (
            'estimator = "sklearn.svm.LinearSVC"\nC = 1',
            "grid_search, estimator. Parameters of an estimator belong in parameters = { C = 1 }.",
        ),
        ('estimator = "os.system"', "estimator os.system is not a classifier"),
    ],
)
def test_mistakes_are_named_with_what_is_allowed(text, message):
    with pytest.raises(PqswarmError) as caught:
        planned(f'name = "one"\n{text}')
    assert str(caught.value).startswith("my.toml cannot be used:\n  ")
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 2


def test_a_classifier_of_the_user_can_be_planned(monkeypatch):
    class Mine(CLASSIFIERS["gaussian-nb"]):
        name = "mine"
        title = "Mine"

    monkeypatch.setattr(CLASSIFIERS, "_members", CLASSIFIERS._members | {})
    CLASSIFIERS.register(Mine)
    plan = ClassifierPlan(name="my own", kind="mine")
    assert type(plan.make()) is Mine
