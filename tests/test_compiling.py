"""The cache of compiled code only saves time: results are the same whatever happens to its files."""

import errno
import gc
import importlib.util
import os
import re
import sys
from itertools import count
from pathlib import Path

import pytest
from numba.core import compiler, config
from numba.core.caching import FunctionCache, IndexDataCacheFile, _CacheLocator
from numba.core.errors import TypingError

from pqswarm._kernels import compile_times as _compile_times
from pqswarm._kernels import compiling as _compiling

SOURCE = """
from pqswarm._kernels.compiling import njit
from pqswarm.{other} import part

@njit(cache=True)
def double(x):
    return part(x) + x
"""
PART = """
from pqswarm._kernels.compiling import njit

@njit(cache=True)
def part(x):
    return {factor} * x
"""
names = count()


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """A function that loads a small module of compiled functions as a new process does."""
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setattr(_compiling, "_warned", False)
    other = f"_part_{next(names)}"

    def load(factor=1):
        monkeypatch.setattr(_compiling, "_warned", False)
        _compiling._compiled_source_stamp.cache_clear()
        sources = {f"pqswarm.{other}": PART.format(factor=factor), "small": SOURCE.format(other=other)}
        for name, source in sources.items():
            path = tmp_path / f"{name}.py"
            if not path.exists() or path.read_text() != source:  # Numba's own cache is outdated by a new date
                path.write_text(source)
            spec = importlib.util.spec_from_file_location(name, path)
            module = importlib.util.module_from_spec(spec)
            monkeypatch.setitem(sys.modules, name, module)
            spec.loader.exec_module(module)
        return module.double

    return load


def hits(function):
    return sum(function.stats.cache_hits.values())


def cached(folder, pattern):
    return [path for path in folder.glob(f"__pycache__/{pattern}") if "double" in path.name]


DAMAGE = {
    "empty": lambda content: b"",
    "half": lambda content: content[: len(content) // 2],
    "flip": lambda content: content[:-200] + bytes([content[-200] ^ 1]) + content[-199:],
    "text": lambda content: b"Notes of another program.",
}


@pytest.mark.parametrize(
    ("pattern", "how"),
    [("*.nbi", "empty"), ("*.nbi", "text"), ("*.nbc", "empty"), ("*.nbc", "half"), ("*.nbc", "flip")],
)
def test_damaged_files_are_replaced(tmp_path, kernel, pattern, how):
    assert kernel()(3) == 6
    again = kernel()
    assert (again(3), hits(again)) == (6, 1)
    (path,) = cached(tmp_path, pattern)
    path.write_bytes(DAMAGE[how](path.read_bytes()))
    with pytest.warns(RuntimeWarning, match="^functions are compiled again, .*cannot be read"):
        assert kernel()(3) == 6
    healed = kernel()
    assert (healed(3), hits(healed)) == (6, 1)


def test_code_is_outdated_when_a_file_that_it_calls_changes(kernel):
    """Numba checks only the file of a function, although its callees are compiled into it."""
    assert kernel(factor=1)(3) == 6
    assert kernel(factor=40)(3) == 123


def test_without_a_folder_it_is_compiled(kernel, monkeypatch):
    def refuse(self):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(_CacheLocator, "ensure_cache_path", refuse)
    with pytest.warns(RuntimeWarning, match="no writable folder .*NUMBA_CACHE_DIR"):
        double = kernel()
    assert double(3) == 6


@pytest.mark.parametrize("name", ["open", "write"])
def test_on_a_full_disk_it_is_compiled(tmp_path, kernel, monkeypatch, name):
    def refuse(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_compiling._CompiledCodeFile, "_open_for_write" if name == "open" else "_save_data", refuse)
    with pytest.warns(RuntimeWarning, match=r"cannot be cached in .* \(No space left on device\)"):
        assert kernel()(3) == 6
    assert not cached(tmp_path, "*.nb*")


def test_all_kernels_are_compiled_that_way():
    """Numba's own decorator would bring back its unchecked files."""
    sources = {path: path.read_text(encoding="utf-8") for path in Path(_compiling.__file__).parents[1].rglob("*.py")}
    compiled = [path for path, text in sources.items() if "@njit" in text]
    assert len(compiled) >= 12
    for path in compiled:
        assert not re.search(r"^from numba import .*njit|@numba\.njit", sources[path], re.MULTILINE), path


def test_the_private_names_of_numba_exist():
    """Adapt `_kernels/compiling.py` if a release of Numba fails here; until then PQSWARM_NUMBA_CACHE=1 avoids it."""
    for name in ("save", "load", "_load_index", "_data_path", "_open_for_write", "_save_data"):
        assert callable(getattr(IndexDataCacheFile, name))
    cache = FunctionCache(test_the_private_names_of_numba_exist)
    assert cache._cache_path
    assert cache._impl.filename_base
    assert callable(cache._impl.locator.ensure_cache_path)
    assert type(cache._cache_file) is IndexDataCacheFile


def test_an_environment_variable_chooses_the_cache_of_numba_and_neither_outdates_the_other(kernel, monkeypatch):
    for turn in range(3):
        for setting, expected in (("0", _compiling._CompiledCodeCache), ("1", FunctionCache)):
            monkeypatch.setenv("PQSWARM_NUMBA_CACHE", setting)
            function = kernel()
            assert type(function._cache) is expected
            assert (function(3), hits(function)) == (6, turn > 0)


def test_processes_that_start_together_compile_a_function_once(kernel, monkeypatch):
    other, function = kernel(), kernel()
    acquire = function._cache._lock.acquire

    def wait():
        other(3)  # is compiled meanwhile
        return acquire()

    monkeypatch.setattr(function._cache._lock, "acquire", wait)
    assert function(3) == 6
    assert (hits(other), hits(function)) == (0, 1)
    assert not other._cache._lock.is_locked
    assert not function._cache._lock.is_locked


def test_a_forked_process_compiles_what_its_parent_has_not(tmp_path, kernel):
    """It cannot use the locks of its parent."""
    function = kernel()
    child = os.fork()
    if not child:
        os._exit(function(3) != 6)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert cached(tmp_path, "*.nbc")


def test_a_process_that_never_ends_compiling_is_not_waited_for(kernel):
    other, function = kernel(), kernel()
    function._cache._lock.timeout = 0.01
    Path(other._cache.cache_path).mkdir(parents=True, exist_ok=True)
    with other._cache._lock:
        assert function(3) == 6
    assert hits(function) == 0


def test_the_listener_is_called_once_and_only_if_something_is_compiled(kernel):
    called = []
    _compile_times.call_when_compiling(lambda: called.append(_compile_times.last_compiled()))
    assert kernel()(3) == 6  # two functions
    assert len(called) == 1
    assert called[0] < (compiled := _compile_times.last_compiled())
    _compile_times.call_when_compiling(lambda: called.append(0.0))
    assert kernel()(3) == 6
    assert len(called) == 1
    assert _compile_times.last_compiled() == compiled
    _compile_times.call_when_compiling(None)


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_not_looked_for_while_compiling(kernel, monkeypatch, collects):
    seen = []
    compile_extra = compiler.compile_extra

    def spy(*args, **options):
        seen.append(gc.isenabled())
        return compile_extra(*args, **options)

    monkeypatch.setattr(compiler, "compile_extra", spy)
    if not collects:
        gc.disable()
    try:
        function = kernel()
        assert function(3) == 6
        assert seen == [False, False]
        assert gc.isenabled() == collects
        with pytest.raises(TypingError):
            function(None)
        assert gc.isenabled() == collects
    finally:
        gc.enable()
