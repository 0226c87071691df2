"""The workbench: recordings, studies and events in a browser on this machine.

It shows what the library computes; measurements and statistics live there. Needs the extra ``app``.
"""
