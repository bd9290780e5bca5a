"""Processes: who holds a folder, how a child notices that its parent is gone, and the supervisor of siblings."""
