from bench.reread import summed


def test_the_median_of_the_runs_counts_and_every_row_must_be_there() -> None:
    runs = [{"rows": 600_000, "seconds": seconds} for seconds in (2.0, 3.0, 6.0)]
    report = summed(600_000, runs)
    assert (report["rows_per_s"], report["rates"], report["met"]) == (200_000, [300_000, 200_000, 100_000], True)
    assert not summed(600_001, runs)["met"]
    assert not summed(600_000, runs[2:])["met"]
