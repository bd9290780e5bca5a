"""Builds generations of tables, keeps them running and says on the status topic which one is live."""
