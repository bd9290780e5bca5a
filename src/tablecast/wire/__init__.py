"""The protocol tablecast.v1: what viewers and servers say to each other. protocol/README.md is the contract."""
