"""Files for readers."""

import time

import pytest
from tests.recordings.builders import zipped
from tests.waiting import usual_seconds

from pqswarm.recordings import RecordingError, read


@pytest.fixture
def save(tmp_path, request):
    """A function that writes bytes, text or members of an archive to a file, by default ``NAME`` of the module."""

    def save(content, name=None, encoding="utf-8"):
        path = tmp_path / (name or request.module.NAME)
        content = content.encode(encoding) if isinstance(content, str) else content
        path.write_bytes(zipped(content) if isinstance(content, dict) else content)
        return path

    return save


@pytest.fixture
def check_attack(save):
    """A function that requires that a file is refused soon, by its name and for a reason."""

    def check(content, reason, name=None, seconds=1.0):
        path = save(content, name)
        began = time.process_time()
        with pytest.raises(RecordingError, match=reason) as caught:
            read(path)
        assert str(path) in str(caught.value)
        assert usual_seconds(time.process_time() - began) < seconds

    return check
