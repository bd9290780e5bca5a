"""Sample data: believable people and their accounts, the same for the same seed."""
