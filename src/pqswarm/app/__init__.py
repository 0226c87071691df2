"""The workbench: recordings, studies and events in a browser on this machine.

It is a face over what the library gives, and has no physics and no statistics of its own. It needs the extra ``app``.
"""

__all__: list[str] = []
