"""Other systems on the same work, each with its best reasonable settings, in an environment of its own."""
