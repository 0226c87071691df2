"""CSV files of results, as programs and people write them."""

import numpy as np
import pandas as pd
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.statistics import read_results, results


@pytest.fixture
def read(tmp_path):
    def read(content):
        path = tmp_path / "results.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_results(path)

    return read


@pytest.mark.parametrize(
    ("content", "labels"),
    [
        ("GA,ACO\n1,2\n3,4.5\n", ()),
        ("GA , ACO\r\n 1, 2\r\n3 ,4.5", ()),
        ("\ufeffGA,ACO\n1,2\n\n3,4.5\n,\n\n", ()),
        ("GA;ACO\n1;2\n3;4.5\n", ()),
        ("GA;ACO\n1,0;2\n3;4,5\n", ()),
        ("GA\tACO\n1\t2\n3\t4.5\n", ()),
        ('"GA","ACO"\n"1","2"\n"3","4.5"\n', ()),
        ("GA,ACO\n1e0,+2\n3,.45e1\n", ()),
        ("noise,GA,ACO\ninf dB,1,2\n50 dB,3,4.5\n", ("inf dB", "50 dB")),
        (",GA,ACO\n0,1,2\n1,3,4.5\n", ("0", "1")),
        ("Run,GA,ACO\n7,1,2\n8,3,4.5\n", ("7", "8")),
        ("data_set;GA;ACO\n1;1,0;2\n2;3;4,5\n", ("1", "2")),
        ("SNR,GA,ACO\ninf,1,2\n50,3,4.5\n", ("inf", "50")),
    ],
)
def test_forms(content, labels, read):
    result = read(content)
    assert result.names == ("GA", "ACO")
    assert result.values.tolist() == [[1, 2], [3, 4.5]]
    assert result.labels == labels
    assert len(result) == 2


@pytest.mark.parametrize("index", [True, False])
def test_what_pandas_writes(index, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).random((4, 3)), columns=["a", "b;c", "d, e"])
    frame.to_csv(tmp_path / "results.csv", index=index)
    result = read_results(str(tmp_path / "results.csv"))
    assert result.names == ("a", "b;c", "d, e")
    assert (result.values == frame.to_numpy()).all()
    assert result.labels == (("0", "1", "2", "3") if index else ())


LONG = """classifier,algorithm,run,error,size,features
k-NN,GA,0,0.2,40,1 2
k-NN,GA,1,0.3,41,1
k-NN,GA,2,0.4,41,1
k-NN,ACO,1,0.5,30,3
k-NN,ACO,0,0.6,31,3
k-NN,SFFS,0,0.1,5,4
NB,GA,0,0.7,9,1
"""


def test_a_line_for_each_run(tmp_path, read):
    path = tmp_path / "runs.csv"
    path.write_text(LONG)
    result = read_results(path, classifier="k-NN")
    assert (result.names, result.labels, result.left_out) == (("GA", "ACO"), ("0", "1"), ("SFFS",))
    assert result.values.tolist() == [[0.2, 0.6], [0.3, 0.5]]
    assert read_results(path, column="Size", classifier="k-NN").values.tolist() == [[40, 31], [41, 30]]
    numbered = read("algorithm;error\nGA;0,1\nACO;0,2\nGA;0,3\nACO;0,4\n")
    assert numbered.values.tolist() == [[0.1, 0.2], [0.3, 0.4]]
    for options, message in (
        ({"classifier": "k-MN"}, "unknown classifier 'k-MN': did you mean 'k-NN'"),
        ({"classifier": "NB"}, "0 columns of results"),
        ({"classifier": "k-NN", "column": "features"}, "line 2, column 'features': '1 2' is not a finite number"),
    ):
        with pytest.raises(PqswarmError, match=message):
            read_results(path, **options)
    with pytest.raises(PqswarmError, match="line 3: run 1 of this algorithm occurs twice"):
        read("algorithm,run,error\nGA,1,2\nGA,1,3\n")


@pytest.mark.parametrize(("heading", "blocks"), [("run", False), ("seed", False), ("data set", True), ("SNR", True)])
def test_rows_that_belong_together_are_known_by_their_heading(heading, blocks, read):
    assert read(f"{heading},GA,ACO\n1,1,2\n2,3,4\n").blocks is blocks


def test_a_comma_in_a_name_does_not_hide_the_semicolons(read):
    assert read("GA, tuned;ACO\n1;2\n3;4\n").names == ("GA, tuned", "ACO")


def test_a_decimal_comma_is_only_read_between_semicolons(read):
    with pytest.raises(PqswarmError, match="'1,5' is not a finite number"):
        read('GA,ACO\n"1,5",2\n3,4\n')


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\n \n,,\n", "is empty"),
        ("GA,ACO\n1,2\nx,4\n", "line 3, column 'GA': 'x' is not a finite number"),
        ("GA,ACO\n\n1,\n3,4\n", "line 3, column 'ACO': the cell is empty"),
        ("GA,ACO\n1,nan\n3,4\n", "line 2, column 'ACO': 'nan' is not a finite number"),
        ("GA,ACO\n1,2\n-inf,4\n", "line 3, column 'GA': '-inf' is not a finite number"),
        ("GA,ACO\n1,1e999\n3,4\n", "'1e999' is not a finite number"),
        ("GA,ACO\n1,1_0\n3,4\n", "'1_0' is not a finite number"),
        ("GA,ACO\n1,2,3\n3,4\n", "line 2: 3 cells, but the first line has 2"),
        ("GA,ACO, GA\n1,2,3\n3,4,5\n", "'GA' occurs more than once"),
        ("GA,,ACO\n1,2,3\n3,4,5\n", "column 2 of the results has no name"),
        ("GA,ACO,\n1,2,\n3,4,\n", "column 3 of the results has no name"),
        ("run,GA\n1,1\n2,2\n", "has 1 column of results"),
        ("noise,GA\na,1\nb,2\n", "has 1 column of results"),
        ("run\n1\n2\n", "has 0 columns of results"),
        ("GA,ACO\n", "has 0 rows of results: at least two are needed"),
        ("GA,ACO\n1,2\n", "has 1 row of results"),
        ("0.1,0.2\n0.3,0.4\n0.5,0.6\n", "the first line must name the algorithms, not '0.1'"),
        ("GA,A\x1b[31mCO\n1,2\n3,4\n", r"'A\\x1b\[31mCO' of an algorithm contains unprintable"),
        (
            'algorithm,run,error\nGA,1,1\nGA,2,2\nACO,1,1\nACO,2,2\n"o\n\\input{x}",1,1\n',
            r"'o.n..input\{x\}' of an algorithm contains unprintable",
        ),
        ('GA,ACO\n1,2\n3,"4\n', "after line 2: unexpected end of data"),
        ('GA,ACO\n1,2\n3,"4"5\n', "after line 2: "),
        (f"{'G' * 200_000},ACO\n1,2\n3,4\n", "field larger than field limit"),
        (b"GA,\xc4CO\n1,2\n3,4\n", "is not a text file in UTF-8"),
        ("GA,ACO\n1,2\n3,4\n".encode("utf-16"), "is not a text file in UTF-8"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is not a text file in UTF-8"),
        (b"PK\x03\x04\x14\0\x06", "is not a text file in UTF-8"),
    ],
)
def test_hostile_files(content, message, read):
    with pytest.raises(PqswarmError, match=message) as error:
        read(content)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_a_name_that_is_too_long(tmp_path):
    with pytest.raises(PqswarmError, match="cannot read"):
        read_results(tmp_path / ("x" * 300))


def test_too_large(monkeypatch, read):
    monkeypatch.setattr(results, "_SIZE_LIMIT", 10)
    with pytest.raises(PqswarmError, match="is larger than"):
        read("GA,ACO\n1,2\n3,4\n")


def test_the_data_set_is_the_block_whatever_else_a_line_says(read):
    """Runs, folds and noise levels on a data set count by their mean, in both forms of the file."""
    wide = read("dataset,run,A,B\nd1,1,1,2\nd1,2,3,4\nd2,1,5,5\nd2,2,7,9\n")
    assert (wide.names, wide.labels, wide.values.tolist()) == (("A", "B"), ("d1", "d2"), [[2, 3], [6, 7]])
    lines = [f"{d},{f},{a},{v}" for d in ("d1", "d2") for f in (1, 2) for a, v in (("A", f), ("B", f + 1))]
    long = read("\n".join(["dataset,fold,algorithm,error", *lines]) + "\n")
    assert (long.labels, long.values.tolist()) == (("d1", "d2"), [[1.5, 2.5]] * 2)
    assert [each.tolist() for each in long.samples["A"]] == [[1, 2], [1, 2]]
