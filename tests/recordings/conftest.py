"""Files for readers."""

import pytest
from tests.recordings.builders import zipped


@pytest.fixture
def save(tmp_path, request):
    """A function that writes bytes, text or members of an archive to a file, by default ``NAME`` of the module."""

    def save(content, name=None, encoding="utf-8"):
        path = tmp_path / (name or request.module.NAME)
        content = content.encode(encoding) if isinstance(content, str) else content
        path.write_bytes(zipped(content) if isinstance(content, dict) else content)
        return path

    return save
