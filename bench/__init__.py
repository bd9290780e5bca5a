"""Benchmarks, each a module to run: `python -m bench.latency --json`. The running stack and Chromium are shared with the browser tests."""
