"""Write the file of a test; refuse a file."""

import time
import zipfile

import pytest
from tests.recordings.builders import zipped

from pqswarm.recordings import RecordingError, read


@pytest.fixture
def save(request, tmp_path):
    """Write bytes, text or the members of an archive, by default as the `CASE` of the module; return the path."""

    def save(content, name="", encoding="utf-8", compression=zipfile.ZIP_DEFLATED):
        path = tmp_path / (name or request.module.CASE)
        if isinstance(content, dict):
            content = zipped(content, compression)
        path.write_bytes(content.encode(encoding) if isinstance(content, str) else content)
        return path

    return save


def refuse_quickly(path, reason):
    """Assert that a file is refused by its name and a reason, within a second of processor time."""
    began = time.process_time()
    with pytest.raises(RecordingError, match=reason) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert time.process_time() - began < 1
