"""The Python client of a table server.

with connect("http://127.0.0.1:10000", key) as viewer:
    for window in viewer.open("users_ui", size=50):
        print(window.total, window.rows)
"""

from tablecast.client.model import WindowModel, WindowState
from tablecast.client.viewer import OpenTable, Viewer, connect

__all__ = ["OpenTable", "Viewer", "WindowModel", "WindowState", "connect"]
