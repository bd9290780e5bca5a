"""Tablecast: Kafka topics in, live tables out."""

__version__ = "0.1.0"
