"""Plans: the built-in ones, every kind of mistake, what is the same plan, and seeds."""

import json
import tomllib
from math import inf

import pytest

from pqswarm.errors import PqswarmError
from pqswarm.study import PLANS, StudyPlan, format_plan, load_plan, plan_text, read_plan
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR
from pqswarm.study.plan_file import restore_plan
from tests.study.plan_tables import PAGE, PARTS, page

SMOKE = plan_text("smoke")
SEVEN = ["ga", "aco", "bpso", "cbpso", "chbpso", "2d-upso", "sffs"]
ALL_SIZES = 'name = "SFFS all sizes"\nalgorithm = "sffs"\nparameters = { size = "all" }'


def smoke(old="", new=""):
    """The smoke plan with a change that is really one."""
    assert not old or old in SMOKE
    return SMOKE.replace(old, new, 1)


@pytest.mark.parametrize("name", PLANS)
def test_built_in_plans_are_valid_and_whole(name):
    plan = load_plan(name)
    once = ["sffs"] if name in ("smoke", "multiverse") else ["sffs", "SFFS all sizes"]
    ours = ["merit"] if plan.dataset_seeds else []
    assert [algorithm.name for algorithm in plan.algorithms] == [*SEVEN[:-1], *ours, *once]
    assert [classifier.kind for classifier in plan.classifiers] == ["k-nn", "kernel-nb"]
    assert all(not algorithm.parameters for algorithm in plan.algorithms if algorithm.name in SEVEN)
    assert plan.baseline == "2d-upso"
    assert plan.folds.stage_two_seed is None  # that of stage I
    assert plan.algorithm("sffs").sequential
    assert plan.paper
    assert [algorithm.name for algorithm in plan.sequential] == once
    assert [algorithm.title for algorithm in plan.searched if algorithm.name not in ours][-1] == "2D-UPSO"


def test_a_built_in_plan_wins_over_a_folder_or_file_of_its_name(tmp_path, monkeypatch):
    """The folder of a study is often named after its plan, and is there when the study is resumed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "smoke").mkdir()
    (tmp_path / "quick").write_text("runs = 1")
    assert [load_plan(name).runs for name in ("smoke", "quick")] == [3, 3]


def test_paper_is_exactly_the_paper():
    plan = load_plan("paper")
    assert 14 * plan.dataset.events_per_class == 3500
    assert (plan.runs, plan.max_evaluations) == (40, 6000)
    assert plan.dataset.snr == (inf, 50, 45, 40, 35, 30, 25, 20)
    assert plan.dataset.preset == "paper"
    assert plan.folds.number == 10
    assert plan.classifier("k-NN").parameters == {"n_neighbors": 3, "metric": "manhattan"}
    assert plan.classifier("NB").parameters == {"bandwidth": 0.004, "floor": 0.0, "underflow": False}
    assert all(classifier.scaling == "once" and classifier.grid_search for classifier in plan.classifiers)
    assert (plan.seed, plan.dataset.seed, plan.held_out.seeds) == (0, 0, (1, 2, 3, 4, 5))
    assert (plan.folds.seed, plan.folds.stage_two_seed) == (0, None)


def test_quick_is_a_small_version_of_the_paper():
    quick, replication = load_plan("quick"), load_plan("replication")
    changed = {key.partition("[")[0] for key, _, _ in quick.differences(replication)}
    assert changed == {"classifiers", "dataset.events_per_class", "dataset.seeds", "dataset.snr", "runs"}
    assert all(classifier.grid_search for classifier in quick.classifiers)  # as in the paper's Fig. 3
    assert set(quick.dataset.snr) < set(replication.dataset.snr)
    changed = {key.partition("[")[0] for key, _, _ in replication.differences(load_plan("paper"))}
    of_data = {"dataset.seeds", "held_out.cross_dataset", "held_out.seeds"}
    assert changed == {"runs", "algorithms", "classifiers", *of_data} - {"held_out.seeds"}
    assert load_plan("paper-grid").differences(load_plan("paper")) == [("dataset.preset", "paper-grid", "paper")]


def test_defaults_are_those_of_the_paper():
    """A plan that names only its classifiers and algorithms is the paper's."""
    least = (
        "".join(f'[[algorithms]]\nalgorithm = "{name}"\n' for name in SEVEN)
        + f"[[algorithms]]\n{ALL_SIZES}\n"
        + (
            '[[classifiers]]\nname = "k-NN"\nkind = "k-nn"\nn_neighbors = 3\nmetric = "manhattan"\n'
            '[[classifiers]]\nname = "NB"\nkind = "kernel-nb"\nbandwidth = 0.004\n'
        )
    )
    assert read_plan(least).canonical() == load_plan("paper").canonical()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[dataset]", "[dataset]\nsed = 1", "dataset.sed: unknown key; did you mean 'seed'?"),
        ("[held_out]", "[held_out]\nsnr = 1", "held_out.snr: unknown key; known here are events_per_class, s"),
        ("[folds]", "[folds]\nseeds = 1", "folds.seeds: unknown key; did you mean 'seed'?"),
        ('"ga"', '"ga"\nsize = 1', "algorithms[0].size: unknown key; known here are name, id, algorithm, par"),
        ("runs = 3", 'control = "2d-upsa"', "unknown control '2d-upsa': did you mean '2d-upso'?"),
        ("runs = 3", 'control = "sffs"', "sffs runs once on a data set"),
        ("runs = 3", 'comparisons = [["ga", "bsop"]]', "unknown algorithm in comparisons 'bsop': did you mean 'bpso'?"),
        ("runs = 3", 'comparisons = [["ga", "GA"]]', "must be pairs of different algorithms, not 'ga' and 'GA'"),
        ("runs = 3", 'comparisons = [["ga", "sffs"]]', "sffs runs once on a data set: comparisons are of algorithms"),
        ("runs = 3", 'comparisons = [["ga"]]', "comparisons[0][1]: is missing"),
        ("runs = 3", "margin = 0", "margin: must be above 0, not 0"),
        ("runs = 3", "runs = 3.0", "runs: must be an integer, not 3.0"),
        ("snr = [inf, 30]", "snr = 30", "dataset.snr: must be a list, not 30"),
        ("snr = [inf, 30]", "snr = [inf, nan]", "dataset.snr[1]: snr must be a number of decibels"),
        ('title = "A smoke test"', "title = 5", "title: must be text, not 5"),
        ('title = "A smoke test"', 'title = ""', "title: must not be empty"),
        ('name = "NB"', 'name = "N/B"', "classifiers[1].name: must be 1 to 40 letters, digits, spaces"),
        ('name = "NB"', f'name = "{"n" * 41}"', "classifiers[1].name: must be 1 to 40 letters"),
        ("runs = 3", f"runs = 0x{'f' * 5000}", "an integer of more than 64 bits"),
        ("runs = 3", f"runs = [[1{'0' * 5000}]]", "an integer of more than 64 bits"),
        ("runs = 3", "runs = 10001", "runs: must be at most 10000"),
        ("max_evaluations = 120", "max_evaluations = -5", "max_evaluations: must be at least 1"),
        ("seed = 0 ", f"seed = {2**63} ", "seed: must be at most 9223372036854775807"),
        ("snr = [inf, 30]", "snr = [inf, 30, 30]", "dataset: snr contains a level twice"),
        ("snr = [inf, 30]", "snr = [inf, 30, 30.0000001]", "dataset: snr contains a level twice"),
        ('algorithm = "ga"', 'name = "ga"', "algorithms[0].algorithm: is missing"),
        ('algorithm = "ga"', "algorithm = 3", "algorithms[0].algorithm: must be text, not 3"),
        ('name = "NB"', 'name = "k-NN"', "classifiers contains the name 'k-NN' twice"),
        ('"aco"', '"ga"', "algorithms contains the name 'ga' twice"),
        ('"aco"', '"ga"\nname = "GA"', "algorithms contains 'ga' and 'GA', both called 'GA'"),
        ('"bpso"', '"bpso"\nparameters = 3', "algorithms[2].parameters: must be a table of keys, not 3"),
        ('"bpso"', '"bpso"\nparameters = { swarm = 3 }', "algorithms[2]: unknown parameter 'swarm'"),
        ('"ga"', '"ga"\nparameters = { size = 100 }', "size of ga is 100, but there are only 99 features"),
        ('"bpso"', '"bpso"\nparameters.size = 0', "algorithms[2]: size must be an integer of at"),
        ('baseline = "2d-upso"', 'baseline = "sffs"', "unknown baseline 'sffs'. Known: ga, aco, bpso, cbpso, chbpso"),
        ("seeds = [1, 2]", "seed = 0", "held_out.seeds must not contain dataset.seed"),
        ("seeds = [1, 2]", "seeds = [2, 2]", "held_out.seeds: contains a seed twice"),
        ("seeds = [1, 2]", "seeds = [2]\nseed = 1", "held_out: seed and seeds are both given"),
        ("seeds = [1, 2]", "seeds = []", "held_out.seeds: must hold at least 1"),
        ("seeds = [1, 2]", "seeds = [1.5]", "held_out.seeds[0]: must be an integer, not 1.5"),
        ("runs = 3", "runs = 3\nruns = 4", "is not valid TOML: Cannot overwrite a value (at line 4"),
    ],
)
def test_mistakes_are_named_with_what_is_allowed(old, new, message):
    with pytest.raises(PqswarmError) as caught:
        read_plan(smoke(old, new), "my.toml")
    assert str(caught.value).startswith("my.toml ")
    assert message in str(caught.value)
    assert "pydantic" not in str(caught.value)


def test_missing_and_empty_parts_are_named():
    with pytest.raises(PqswarmError, match=r"classifiers: is missing\.\n  algorithms: is missing\."):
        read_plan("")
    with pytest.raises(PqswarmError, match=r"classifiers: must hold at least 1, not \[\]"):
        read_plan("classifiers = []\nalgorithms = []")
    with pytest.raises(
        PqswarmError, match=r"dataset: must be a table of keys, not 3[^$]*algorithms\[0\]: must be a tab"
    ):
        read_plan('dataset = 3\nalgorithms = ["ga"]')
    with pytest.raises(PqswarmError, match=r"dataset.classes: must hold at least 2, not \['sag'\]"):
        read_plan(SMOKE.replace("[dataset]", '[dataset]\nclasses = ["sag"]'))
    once = SMOKE.partition("[[algorithms]]")[0] + '[[algorithms]]\nalgorithm = "sffs"\n'
    with pytest.raises(PqswarmError, match="algorithms must contain at least one that is run repeatedly"):
        read_plan(once)


def test_all_mistakes_are_told_at_once_and_each_only_once():
    text = smoke("runs = 3", "runs = 0").replace('"ga"', '"gaa"').replace("number = 5", "number = 'five'")
    with pytest.raises(PqswarmError) as caught:
        read_plan(text)
    lines = str(caught.value).splitlines()
    assert len(lines) == 4
    assert all(line.startswith("  ") and line.endswith(".") for line in lines[1:])


def test_names_that_tables_use_cannot_be_taken():
    for name in ("p", "Level", "all", ALL_FEATURES, ONE_STANDARD_ERROR):
        text = SMOKE.replace('algorithm = "ga"', f'name = "{name}"\nalgorithm = "ga"', 1)
        with pytest.raises(PqswarmError, match=f"algorithms cannot contain the name '{name}', which is reserved"):
            read_plan(text)


def test_files(tmp_path):
    (tmp_path / "mine.toml").write_text(SMOKE)
    assert load_plan(tmp_path / "mine.toml") == load_plan("smoke") == load_plan(str(tmp_path / "mine.toml"))
    (tmp_path / "latin.toml").write_bytes(SMOKE.replace("A smoke", "Prüfung").encode("latin-1"))
    with pytest.raises(PqswarmError, match=r"cannot read the plan .*latin.toml: byte [0-9]+ is not UTF-8 text"):
        load_plan(tmp_path / "latin.toml")


def turned(tree):
    """The same mapping with its keys in the opposite order, all the way down."""
    if isinstance(tree, dict):
        return {key: turned(tree[key]) for key in reversed(tree)}
    return [turned(branch) for branch in tree] if isinstance(tree, list) else tree


def test_canonical_form_does_not_depend_on_the_order_of_keys_nor_on_the_title():
    given = tomllib.loads(smoke('"bpso"', '"bpso"\nparameters = { swarm_size = 20, inertia = 0.5 }'))
    plan, other = (StudyPlan.model_validate(one) for one in (given, turned(given) | {"title": "Another title"}))
    assert other.canonical() == plan.canonical()
    assert other.differences(plan) == []


def test_what_the_report_compares_decides_no_result():
    plan = load_plan("smoke")
    assert (plan.control, plan.comparisons, plan.margin) == (None, (), 0.05)
    given = tomllib.loads(SMOKE) | {"control": "GA", "comparisons": [["aco", "GA"], ["2d-upso", "bpso"]], "margin": 0.1}
    other = StudyPlan.model_validate(given)
    assert other.canonical() == plan.canonical()
    assert read_plan(format_plan(other)) == other
    assert restore_plan(json.loads(json.dumps(other.model_dump(mode="json")))).comparisons == other.comparisons
    assert [other.title_of(name) for name in ("ga", "GA", "2d-upso")] == ["GA", "GA", "2D-UPSO"]
    assert plan.compared("best", ()).control == "best"


def test_order_of_parts_makes_no_difference():
    given = tomllib.loads(SMOKE)
    parts = {key: given[key][::-1] for key in ("classifiers", "algorithms")}
    assert StudyPlan.model_validate(given | parts).differences(load_plan("smoke")) == []


def test_a_kept_plan_is_read_back():
    plan = read_plan(smoke('"bpso"', '"bpso"\nparameters = { swarm_size = 20, inertia = 0.5 }'))
    kept = json.loads(json.dumps(plan.model_dump()))
    assert restore_plan(kept) == plan
    assert restore_plan(kept).dataset.snr == (inf, 30.0)
    for broken, said in (([], "must be a table of keys"), (kept | {"runs": 0}, "runs: must be at least")):
        with pytest.raises(PqswarmError, match=f"the stored plan of the study is invalid, .*:\n  .*{said}"):
            restore_plan(broken)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("runs = 3", "runs = 4", [("runs", 4, 3)]),
        ("A smoke test", "Another title", []),
        ("snr = [inf, 30]", "snr = [inf, 30, 20]", [("dataset.snr", [inf, 30.0, 20.0], [inf, 30.0])]),
        ("width = 0.004", "width = 0.005", [("classifiers[NB].parameters.bandwidth", 0.005, 0.004)]),
        ("seeds = [1, 2]", "seed = 3", [("held_out.seeds", [3], [1, 2])]),
        ('"bpso"', '"bpso"\nparameters.swarm_size = 9', [("algorithms[bpso].parameters.swarm_size", 9, "absent")]),
        (
            '[[algorithms]]\nalgorithm = "ga"\n',
            "",
            [("algorithms[ga].algorithm", "absent", "ga"), ("algorithms[ga].name", "absent", "ga")],
        ),
    ],
)
def test_differences_are_keys_with_both_values(old, new, found):
    assert sorted(read_plan(smoke(old, new)).differences(load_plan("smoke"))) == found


def test_seeds_of_runs_depend_on_names_and_number_alone():
    """These numbers must never change: all published results hang on them."""
    paper, smoke_plan = load_plan("paper"), load_plan("smoke")
    golden = {
        ("NB", "2d-upso", 0): 8732190369386162345,
        ("NB", "2d-upso", 39): 2636278372367044268,
        ("k-NN", "ga", 0): 8927735468187946100,
    }
    for (classifier, algorithm, run), seed in golden.items():
        assert paper.run_seed(classifier, algorithm, run) == smoke_plan.run_seed(classifier, algorithm, run) == seed
    seeds = {paper.run_seed(c.name, a.name, n) for c in paper.classifiers for a in paper.algorithms for n in range(40)}
    assert len(seeds) == 2 * 8 * 40
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert paper.model_copy(update={"seed": 1}).run_seed("NB", "2d-upso", 0) not in seeds


def test_a_prettier_name_keeps_its_seeds_with_the_old_one_as_id():
    text = '[[classifiers]]\nname = "NB"\nkind = "kernel-nb"\n[[algorithms]]\nalgorithm = "2d-upso"\n'
    plan = read_plan(f'{text}[[algorithms]]\nname = "ga-2"\nalgorithm = "ga"')
    pretty = read_plan(
        f'{text}[[algorithms]]\nname = "GA, two points"\nid = "ga-2"\nalgorithm = "ga"'.replace(", ", " ")
    )
    assert pretty.run_seed("NB", "GA two points", 3) == plan.run_seed("NB", "ga-2", 3)
    assert read_plan(format_plan(pretty)) == pretty
    assert '"id"' not in plan.canonical()
    with pytest.raises(PqswarmError, match="algorithms contains the id '2d-upso' twice"):
        read_plan(f'{text}[[algorithms]]\nid = "2d-upso"\nalgorithm = "ga"')


def test_a_plan_as_toml_reads_back_as_the_same_plan():
    odd = smoke("A smoke test", 'A \\"smoke\\" test \\\\ ü').replace(
        '"bpso"', '"bpso"\nname = "slow +1.5 bpso"\nparameters = { swarm_size = 20, inertia = 0.5 }'
    )
    for plan in (*(load_plan(name) for name in PLANS), read_plan(odd)):
        assert read_plan(format_plan(plan)) == plan


def test_sffs_is_told_a_size_given_one_or_goes_through_all():
    told, given, through = (
        read_plan(smoke('algorithm = "sffs"', new)).algorithms[-1]
        for new in ('algorithm = "sffs"', 'algorithm = "sffs"\nparameters.size = 4', ALL_SIZES)
    )
    assert [(a.needs_size, a.all_sizes, a.settings) for a in (told, given, through)] == [
        (True, False, {}),
        (False, False, {"size": 4}),
        (False, True, {"size": None}),
    ]
    for name in ("2d-upso", "ranking"):  # whose number of features is never told
        with pytest.raises(PqswarmError, match=r"size must be an integer of at least 1"):
            read_plan(smoke('algorithm = "sffs"', f'name = "x"\nalgorithm = "{name}"\nparameters.size = "all"'))


def test_plans_are_frozen():
    with pytest.raises(ValueError, match="frozen"):
        load_plan("smoke").runs = 5


def test_a_study_of_a_development_version_is_refused():
    old = read_plan(SMOKE).model_dump(exclude={"baseline"}) | {"reference": "2d-upso"}
    with pytest.raises(PqswarmError, match="another version: then run it again"):
        restore_plan(old)


def test_page_of_plan_keys_is_up_to_date():
    """Else: python -m tests.study.plan_tables."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_examples_make_plans():
    examples = {part.__name__: example for _, part, example in PARTS}
    common = [examples[name] for name in ("FoldsPlan", "SubsetsPlan", "ClassifierPlan", "AlgorithmPlan")]
    for data, held_out in (("DatasetPlan", "HeldOutPlan"), ("OwnDataPlan", "OwnHeldOutPlan")):
        plan = read_plan("\n".join([examples["StudyPlan"], examples[data], examples[held_out], *common]))
        assert (type(plan.dataset).__name__, type(plan.held_out).__name__) == (data, held_out)
