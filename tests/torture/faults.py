"""Disks that are full from the n-th write on, and kills in the middle of a write, including those of SQLite.

The faults are installed in a process forked for them, and apply only to files below one folder.
"""

import _sqlite3
import builtins
import ctypes
import errno
import io
import os
import resource
import signal
from pathlib import Path

WRITING = os.O_WRONLY | os.O_RDWR
_CALLBACKS = []  # callbacks of SQLite must not be garbage-collected


class Faults:
    """Counts writes below a folder, and cuts the write `at` in half; then the disk stays full, or the process dies."""

    def __init__(self, folder, at=0, kill=False):
        self.folder, self.at, self.kill = str(Path(folder).resolve()), at, kill
        self.count = 0

    def meets(self, path):
        """Whether a file, given by name or descriptor, is below the folder."""
        if isinstance(path, int):
            try:
                path = os.readlink(f"/proc/self/fd/{path}")  # noqa: PTH115
            except OSError:
                return False
        return os.path.abspath(os.fsdecode(path)).startswith(self.folder)  # noqa: PTH100

    def is_full(self):
        """Count an atomic operation, and return whether the disk is full."""
        self.count += 1
        self.end_here()
        return 0 < self.at <= self.count

    def writable(self, size):
        """Count a write, and return how many of its bytes fit: half at the write that fills the disk."""
        self.count += 1
        if not self.at or self.count < self.at:
            return size
        if size < 2:
            self.end_here()
        return size // 2 if self.count == self.at else 0

    def end_here(self):
        if self.kill and self.count == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def check(self):
        if self.is_full():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def install(self):
        _patch_files(self)
        _patch_functions(self)
        patch_sqlite(self)


def _patch_files(faults):
    real_open = io.open

    class Raw(io.FileIO):
        def write(self, data):
            view = memoryview(data).cast("B")
            size = faults.writable(len(view))
            if not size and len(view):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            written = super().write(view[:size])
            faults.end_here()
            return written

    def open_file(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
        if not set(mode) & set("wax+") or not faults.meets(file):
            return real_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        faults.check()
        raw = Raw(file, "".join(letter for letter in mode if letter not in "bt"), closefd, opener)
        if buffering == 0:
            return raw
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, errors, newline)

    builtins.open = io.open = open_file


def _patch_functions(faults):
    def guard(name, is_meant):
        real = getattr(os, name)

        def guarded(*arguments, **options):
            if is_meant(*arguments):
                faults.check()
            return real(*arguments, **options)

        setattr(os, name, guarded)

    for name in ("write", "fsync", "ftruncate", "mkdir"):
        guard(name, lambda first, *_: faults.meets(first))
    for name in ("rename", "replace", "link"):
        guard(name, lambda _, second: faults.meets(second))
    guard("open", lambda path, flags, *_: bool(flags & WRITING) and faults.meets(path))
    guard("sendfile", lambda out, *_: faults.meets(out))


class _VFS(ctypes.Structure):
    """The file system of SQLite: ``struct sqlite3_vfs``."""


_Set = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_VFS), ctypes.c_char_p, ctypes.c_void_p)
_Get = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_VFS), ctypes.c_char_p)
_VFS._fields_ = [
    *((name, ctypes.c_int) for name in ("version", "size", "longest")),
    *((f"pointer_{number}", ctypes.c_void_p) for number in range(16)),
    ("set_call", _Set),
    ("get_call", _Get),
    ("next_call", ctypes.c_void_p),
]


def patch_sqlite(faults):
    """Make SQLite's system calls fail too; return whether this build of SQLite allows it."""
    try:
        find = ctypes.CDLL(_sqlite3.__file__).sqlite3_vfs_find
    except (AttributeError, OSError):  # linked into Python without symbols
        return False
    find.restype, find.argtypes = ctypes.POINTER(_VFS), [ctypes.c_char_p]
    vfs = find(None)

    def put(name, kind, make):
        address = vfs.contents.get_call(vfs, name)
        if address:
            function = kind(make(kind(address)))
            _CALLBACKS.append(function)
            vfs.contents.set_call(vfs, name, ctypes.cast(function, ctypes.c_void_p))

    def fail():
        ctypes.set_errno(errno.ENOSPC)
        return -1

    def writer(real):
        def write(number, data, size, *offset):
            if not faults.meets(number):
                return real(number, data, size, *offset)
            part = faults.writable(size)
            if not part and size:
                return fail()
            written = real(number, data, part, *offset)
            faults.end_here()
            return written

        return write

    def opener(real):
        def open_file(path, flags, mode):
            is_new = flags & WRITING and flags & os.O_CREAT and not os.path.exists(path)  # noqa: PTH110
            if is_new and faults.meets(path) and faults.is_full():
                return fail()
            return real(path, flags, mode)

        return open_file

    def cutter(real):
        return lambda number, size: fail() if faults.meets(number) and faults.is_full() else real(number, size)

    long, pointer = ctypes.c_ssize_t, ctypes.c_void_p
    plain = ctypes.CFUNCTYPE(long, ctypes.c_int, pointer, ctypes.c_size_t, use_errno=True)
    placed = ctypes.CFUNCTYPE(long, ctypes.c_int, pointer, ctypes.c_size_t, ctypes.c_int64, use_errno=True)
    opening = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_int, use_errno=True)
    cutting = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int64, use_errno=True)
    for name, kind in ((b"write", plain), (b"pwrite", placed), (b"pwrite64", placed)):
        put(name, kind, writer)
    put(b"open", opening, opener)
    put(b"ftruncate", cutting, cutter)
    return True


def limit_files(size):
    """Limit the size of files of this process [byte]: the system refuses larger writes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
