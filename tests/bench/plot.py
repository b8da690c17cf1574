#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plot.py FIGURES.json FOLDER - pictures of what bench.py found, as SVG, by gnuplot.

FOLDER/performance.svg has a bar for each way of each row that was compared with other tools;
FOLDER/growth.svg shows how the cost of one call grows. Says so, and makes none, where there is
no gnuplot or nothing to show.
"""
import json
import os
import shutil
import subprocess
import sys

STYLE = """set terminal svg size {width},{height} enhanced font 'sans-serif,11' background '#ffffff'
set output '{out}'
set border 3 linecolor '#888888'
set tics nomirror
set grid ytics linecolor '#dddddd'
"""
COLOURS = ["#1b5e20", "#66bb6a", "#0d47a1", "#64b5f6", "#b71c1c", "#ef9a9a", "#4a148c", "#ce93d8", "#e65100", "#ffcc80", "#37474f",
           "#b0bec5", "#006064", "#80deea"]


def gnuplot(script):
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def quoted(text):
    return "'" + text.replace("'", "''").replace("_", "\\_") + "'"


def block(name, lines):
    return f"${name} << EOD\n" + "\n".join(lines) + "\nEOD\n"


def compared(figures):
    """Rows that another tool has run, as root when both users did."""
    user = "root" if any(f["user"] == "root" for f in figures) else "user"
    figures = [f for f in figures if f["user"] == user and not f["curve"]]
    names = list(dict.fromkeys(f["row"] for f in figures if f["peer"]))
    return [f for f in figures if f["row"] in names], names


def bars(figures, out):
    figures, names = compared(figures)
    if not names:
        return "nothing was compared with another tool"
    ways = list(dict.fromkeys(f["engine"] for f in figures))
    ratio = {(f["row"], f["engine"]): f["ratio"] for f in figures}
    data = [" ".join([f'"{name}"', *(f"{ratio[name, way]:.4f}" if (name, way) in ratio else "?" for way in ways)]) for name in names]
    script = STYLE.format(width=1100, height=420, out=out) + block("data", data)
    script += "set datafile missing '?'\nset style data histogram\nset style histogram clustered gap 2\nset style fill solid\n"
    script += "set logscale y\nset yrange [0.8:*]\nset ylabel 'times the bare command'\nset key outside right\n"
    script += "plot " + ", ".join(
        f"$data using {n + 2}" + (":xtic(1)" if n == 0 else "") + f" title {quoted(way)} linecolor rgb '{COLOURS[n % len(COLOURS)]}'"
        for n, way in enumerate(ways)) + "\n"
    gnuplot(script)
    return None


def growth(figures, out):
    curves = {}
    for figure in figures:
        if figure["curve"]:
            curves.setdefault(figure["curve"][0], {}).setdefault(figure["user"], []).append((figure["curve"][1], figure["extra_us"]))
    if not curves:
        return "nothing was measured that grows"
    script = STYLE.format(width=900, height=560, out=out) + f"set multiplot layout 2,{(len(curves) + 1) // 2}\n"
    script += "set logscale x\nset yrange [0:*]\nset ylabel 'us more, one open'\nset key top left\n"
    for number, (what, users) in enumerate(curves.items()):
        for user, points in users.items():
            script += block(f"d{number}{user}", [f"{x} {max(y, 0):.4f}" for x, y in sorted(points)])
        script += f"set xlabel {quoted(what)}\nplot " + ", ".join(
            f"$d{number}{user} using 1:2 with linespoints pointtype 7 linecolor rgb '{COLOURS[2 * n]}' title {quoted(user)}"
            for n, user in enumerate(users)) + "\n"
    gnuplot(script + "unset multiplot\n")
    return None


def main():
    source, folder = sys.argv[1:3]
    if not shutil.which("gnuplot"):
        print("plot: no pictures: gnuplot is not installed (gnuplot-nox)")
        return 0
    with open(source) as file:
        figures = json.load(file)["figures"]
    os.makedirs(folder, exist_ok=True)
    for draw, name in ((bars, "performance.svg"), (growth, "growth.svg")):
        reason = draw(figures, f"{folder}/{name}")
        print(f"plot: no {name}: {reason}" if reason else f"plot: {folder}/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
