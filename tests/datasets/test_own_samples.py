"""Your own data: files and frames in many forms, and every kind of mistake."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from tests.memory import memory_below

from pqswarm.datasets import Samples, read_samples
from pqswarm.errors import FileFormatError, PqswarmError

X = [[5.1, 3.5], [4.9, 3.0], [7.0, 3.2], [6.4, -1e-3]]
CSV = "length,width,species\n5.1,3.5,b\n4.9,3.0,b\n7.0,3.2,a\n6.4,-1e-3,a\n"


def read(path, content, label=None):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_samples(path, label)


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        CSV,
        "\ufeff" + CSV.replace(",", ";").replace("\n", "\r\n") + "\r\n\r\n",
        CSV.replace(",", "\t"),
        'label,length,width\nb, 5.1 ,"3.5"\nb,4.9,3\na,7,3.2\na,6.4,-0.001',
        "length,Class,width\n5.1,b,3.5\n4.9,b,3.0\n7.0,a,3.2\n6.4,a,-1e-3\n",
        npz(X=np.array(X), y=np.array(["b", "b", "a", "a"]), feature_names=["length", "width"]),
        npz(X=np.array(X), y=[1, 1, 0, 0], feature_names=["length", "width"], class_names=["a", "b"]),
        npz(X=np.asfortranarray(X), y=np.array([b"b", b"b", b"a", b"a"]), feature_names=["length", "width"]),
    ],
)
def test_the_same_data_in_many_forms(tmp_path, content):
    kind = "npz" if isinstance(content, bytes) else "csv"
    found = read(tmp_path / f"data.{kind}", content)
    assert (found.feature_names, found.class_names) == (("length", "width"), ("a", "b"))
    assert found.features.tolist() == X
    assert found.y.tolist() == [1, 1, 0, 0]
    assert found.digest == Samples.of(pd.DataFrame(X, columns=["length", "width"]), list("bbaa")).digest


def test_frames_and_arrays():
    frame = pd.DataFrame(X, columns=["length", "width"]).assign(species=[10, 10, 9, 9])
    found = Samples.of(frame)
    assert (found.class_names, found.y.tolist()) == (("9", "10"), [1, 1, 0, 0])  # numbers are sorted as numbers
    assert Samples.of(found) is found
    assert Samples.of(frame[["species", "length", "width"]], label="species").digest == found.digest
    assert Samples.of((X, [10.0, 10.0, 9.0, 9.0])).feature_names == ("x0", "x1")
    assert Samples.of(np.array(X, dtype=object), [True, True, False, False]).class_names == ("False", "True")
    assert Samples.of(frame.astype({"length": object})).digest == found.digest


def test_a_copy_is_the_same_and_every_change_is_seen(tmp_path):
    found = Samples.of(X, ["b", "b", "a", "ü"])
    again = read_samples(found.save(tmp_path / "copy.npz"))
    assert again.digest == found.digest
    assert again.features.tolist() == X
    with np.load(tmp_path / "copy.npz", allow_pickle=False) as file:
        assert set(file.files) == {"X", "y", "feature_names", "class_names"}
    other = np.array(X)
    other[2, 1] = np.nextafter(other[2, 1], 9)
    changed = [
        Samples.of(other, ["b", "b", "a", "ü"]),
        Samples.of(X, ["b", "a", "b", "ü"]),
        Samples.of(X, list("bbac")),
    ]
    changed.append(Samples.of(pd.DataFrame(X, columns=["u", "v"]), ["b", "b", "a", "ü"]))
    assert len({one.digest for one in (found, *changed)}) == 5


def test_columns_can_be_ignored_incomplete_rows_dropped_and_decimal_commas_read(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("id;length;width;kind\nx1;1,5;2;a,b\nx2;NaN;2;c\nx3;2,5;-1e3;c\nx4;3;4;\n")
    found = read_samples(path, ignore=["id"], drop_missing=True)
    assert found.features.tolist() == [[1.5, 2.0], [2.5, -1000.0]]
    assert (found.class_names, found.feature_names) == (("a,b", "c"), ("length", "width"))
    for options, message in (
        ({"ignore": ["idd"]}, "unknown column to ignore in .*: did you mean 'id'"),
        ({"ignore": ["id", "length", "width"]}, "has only the label column"),
        ({"ignore": ["id"]}, "line 3, column 'length': the value is missing"),
    ):
        with pytest.raises(PqswarmError, match=message):
            read_samples(path, **options)
    with pytest.raises(PqswarmError, match="has arrays, not columns"):
        read_samples(found.save(tmp_path / "copy.npz"), ignore=["id"])


def test_a_fraction_of_each_class_is_held_out():
    y = np.repeat([0, 1, 2], [40, 20, 3])
    data = Samples.of(np.arange(63.0).reshape(-1, 1), y)
    seen, aside = data.split(0.25, seed=3)
    assert np.bincount(aside.y).tolist() == [10, 5, 1]
    assert sorted([*seen.features[:, 0], *aside.features[:, 0]]) == list(range(63))
    assert (aside.y == y[aside.features[:, 0].astype(int)]).all()
    assert data.split(0.25, seed=3)[1].digest == aside.digest != data.split(0.25, seed=4)[1].digest


def test_a_second_file_takes_the_columns_of_the_first():
    data = Samples.of(pd.DataFrame(X, columns=["u", "v"]), list("cbaa"))
    test = Samples.of(pd.DataFrame({"v": [1.0, 2.0], "u": [3.0, 4.0]}), ["c", "a"]).arranged_like(data, "test.csv")
    assert (test.features.tolist(), test.y.tolist()) == ([[3, 1], [4, 2]], [2, 0])
    for frame, y, message in (
        ({"u": [1, 2]}, "ab", "test.csv lacks the column 'v', which the data of the study have"),
        ({"u": [1, 2], "v": [1, 2], "w": [1, 2]}, "ab", "has the column 'w', which the data of the study lack"),
        ({"u": [1, 2], "v": [1, 2]}, "ax", "has the class 'x', which the data of the study lack"),
    ):
        with pytest.raises(PqswarmError, match=message):
            Samples.of(pd.DataFrame(frame), list(y)).arranged_like(data, "test.csv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "needs a header with the names of at least two columns"),
        ("a,b\n", "has a header but no rows"),
        ("a,b,c\n1,2,x\n1,,y\n", r"line 3, column 'b': the value is missing: fill it in, .* all such rows"),
        ("a,b,c\n1,NA,x\n", r"line 2, column 'b': the value is missing"),
        ("a,b,c\n1,2,x\n\n3,four,y\n", r"line 4, column 'b': 'four' is not a number\. Encode text"),
        ('a,b,c\n1,"2,5",x\n', r"line 2, column 'b': '2,5' is not a number\. Numbers need a decimal point"),
        ("a;b;c\n1;2.000,5;x\n", r"line 2, column 'b': '2.000,5' is not a number"),
        ("a,b,c\n1,1_0,x\n", "'1_0' is not a number"),
        ("a,b,c\n1,inf,x\n", "inf is not a finite number"),
        ("a,b,c\n1,1e200,x\n", "1e200 is not a finite number of at most 1e"),
        ("a,b,c\n1,2,x\n1,2\n", "line 3: there are 2 cells, but 3 columns in the header"),
        ("a,b,a\n1,2,x\n", "columns 1 and 3 are both called 'a': each needs a different name"),
        (",a,b\n0,2,x\n", r"column 1 has no name: give it one, or leave it out \(pandas: to_csv\(index=False\)\)"),
        ("a,b\x07,c\n0,2,x\n", "name of column 2 must be printable"),
        ("a,b,c\n1,2,x\n1,2,x\n", "all 2 labels are 'x', but there must be at least two classes: choose the label col"),
        ("a,b,c\n1,2,x\n1,2,\n", "line 3, column 'c': the label is missing: fill it in, or leave out the row"),
        ("class,b,target\n1,2,x\n", "has the columns 'class' and 'target': choose one with label"),
        ("a,b,c\n" + "\n".join(f"1,2,{i}" for i in range(1001)), "more than 1000 different labels"),
        ('a,b,c\n1,2,"x\n', "line 2: this is not CSV"),
        (b"a,b,c\n1,2,\xff\n", "line 2: this is not UTF-8 text: save it as CSV in UTF-8"),
        (b"a,b,c\n1,2,\x00\n", "is not a CSV file"),
        (npz(X=np.array(X)), "has no array 'y'"),
        (npz(X=np.array(X), Y=np.zeros(4)), "unknown array 'Y': did you mean 'X'|unknown array 'Y'"),
        (npz(X=np.array(X), y=np.array(["a", 1, 2, 3], dtype=object)), r"Labels of Python objects are saved as text"),
        (npz(X=np.array(X), y=np.arange(4) / 3), r"row 1: the label 0\.3.* is a measured value, not a class"),
        (npz(X=np.array(X), y=np.arange(3)), r"y must hold one label for each of the 4 rows"),
        (npz(X=np.arange(4.0), y=np.arange(4)), "X must have a row for each sample"),
        (npz(X=np.array([["1", "2"]] * 4), y=np.arange(4)), "X must hold numbers, not text"),
        (npz(X=np.array([[1, np.nan]] * 4), y=np.arange(4)), "row 0, column 'x1': the value is missing"),
        (npz(X=np.array(X), y=[0, 1, 2, 3], class_names=["a"]), "y must hold positions in class_names, 0 to 0"),
        (npz(X=np.array(X), y=[0, 1, 0, 1], feature_names=["a"]), "feature_names has 1 names for 2 columns of X"),
        (npz(X=np.array(X), y=[0, 1, 0, 1], feature_names=[1, 2]), "feature_names must be a list of texts"),
        (npz(X=np.array(X), y=[0, 1, 0, 1])[:-30], "is damaged, or is not an npz file"),
    ],
)
def test_mistakes_are_named_with_place_and_remedy(tmp_path, content, message):
    with pytest.raises(PqswarmError, match=message) as caught:
        read(tmp_path / "mine.dat", content)
    assert "mine.dat" in str(caught.value)


def test_an_archive_that_claims_too_much_is_not_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", bytes(100_000))
    data = bytearray((tmp_path / "bomb.npz").read_bytes())
    place = data.rindex(b"PK\x01\x02") + 24
    data[place : place + 4] = (900_000_000).to_bytes(4, "little")
    with pytest.raises(FileFormatError, match=r"bomb\.npz claims to hold 900000000 bytes, more than is read"):
        read(tmp_path / "bomb.npz", bytes(data))


def test_other_mistakes(tmp_path):
    with pytest.raises(PqswarmError, match=r"there is no data file .*none\.csv"):
        read_samples(tmp_path / "none.csv")
    with pytest.raises(PqswarmError, match="cannot read"):
        read_samples(tmp_path)
    with pytest.raises(PqswarmError, match="unknown column of labels 'specis': did you mean 'species'"):
        read(tmp_path / "a.csv", CSV, "specis")
    with pytest.raises(PqswarmError, match="has arrays, not columns: leave label, ignore and drop_missing out"):
        read(tmp_path / "a.npz", npz(X=np.array(X), y=np.arange(4)), "y")
    with pytest.raises(PqswarmError, match="the data has no labels: give a frame, or X and y"):
        Samples.of(np.array(X))
    with pytest.raises(PqswarmError, match="row 2, column 'v': 'red' is not a number"):
        Samples.of(pd.DataFrame({"u": [1, 2, 3], "v": [1, 2, "red"]}), list("aba"))
    with pytest.raises(PqswarmError, match="columns 1 and 2 are both called 'u'"):
        Samples.of(pd.DataFrame([[1, 2], [3, 4]], columns=["u", "u"]), list("ab"))
    with pytest.raises(PqswarmError, match="no noise level"):
        Samples.of(X, list("aabb")).X(30.0)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.ones((2, 1)), "y": [0, 1], "feature_names": np.full(500_000, "ab")}, "500000 names for 1 columns"),
        ({"X": np.ones((500_000, 1), "u1"), "y": np.full(500_000, "ab")}, "all 500000 labels are 'ab'"),
    ],
)
def test_text_that_is_packed_well_takes_little_memory(tmp_path, arrays, message):
    """As Python's own texts, short ones take ten times the memory of the array."""
    np.savez_compressed(tmp_path / "data.npz", **arrays)
    unpacked = sum(np.asarray(array).nbytes for array in arrays.values())
    with memory_below(4.5 * unpacked + 10e6), pytest.raises(PqswarmError, match=message):
        read_samples(tmp_path / "data.npz")


def test_a_table_of_short_numbers_takes_little_memory(tmp_path):
    """As Python's own numbers they take four times the memory of the array, and sixteen times that of the file."""
    rows = [f"{'0,' * 500}{row % 2}" for row in range(200)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join([",".join([*(f"a{i}" for i in range(500)), "label"]), *rows]))
    read_samples(path)
    with memory_below(3e6):
        assert len(read_samples(path).feature_names) == 500
