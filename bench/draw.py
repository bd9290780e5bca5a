"""Draws charts as SVG. Runs in a virtualenv of its own, so it imports nothing of ours: python draw.py FOLDER < charts.json"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl  # type: ignore[import-not-found]

mpl.use("svg")
from matplotlib import pyplot as plt

# The same figures give the same file.
mpl.rcParams.update({"svg.hashsalt": "tablecast", "svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3})


def main(folder: Path) -> None:
    for chart in json.load(sys.stdin):
        draw(chart, folder / f"{chart['name']}.svg")


def draw(chart: dict[str, Any], file: Path) -> None:
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for series in chart["series"]:
        if chart.get("kind") == "bars":
            axes.bar_label(axes.bar(series["x"], series["y"], label=series["label"]), fmt="{:,.0f}")
        else:
            axes.plot(series["x"], series["y"], label=series["label"], marker="o", markersize=3, linewidth=1.3)
    axes.set(title=chart["title"], xlabel=chart["x"], ylabel=chart["y"], yscale=chart.get("y_scale", "linear"))
    if "x_scale" in chart:
        # A scale that is set, even the linear one, forgets the names under bars.
        axes.set_xscale(chart["x_scale"])
    if chart.get("y_scale", "linear") == "linear":
        axes.set_ylim(bottom=0)
    if chart.get("kind") != "bars":
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
