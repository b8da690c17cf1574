#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page.py FIGURES.json FOLDER [MICRO.json] - the page on performance, from what bench.py and micro.py found.

The words are in PERFORMANCE.in.md beside this file; pictures that lie in FOLDER as
performance.svg and growth.svg are named in it.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)])


def ratio(figure):
    return f"{figure['ratio']:.2f} ({figure['low']:.2f} to {figure['high']:.2f})"


def seconds(value):
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= unit:
            break
    return f"{value / unit:.3g} {name}"


def title(figure):
    return figure["title"].replace(" (abs)", "")


def is_over(figure):
    if figure["most_us"]:
        return figure["extra_us"] > figure["most_us"]
    return bool(figure["budget"]) and figure["ratio"] > figure["budget"]


def cell(figure):
    if not figure:
        return "–"
    if figure["row"] == "memory":
        return figure["remark"]
    text = figure["remark"].split(" (")[0] if figure["most_us"] else ratio(figure)
    return f"**{text}**" if is_over(figure) else text


def budget(figure):
    if figure["row"] == "memory":
        return "10 MB"
    if figure["most_us"]:
        return "+" + (f"{figure['most_us'] / 1000:g} ms" if figure["most_us"] >= 1000 else f"{figure['most_us']:g} us")
    return f"{figure['budget']:g}"


def users_of(figures):
    return [user for user in ("root", "user") if any(f["user"] == user for f in figures)]


def budgets(figures):
    figures = [f for f in figures if not f["peer"] and not f["curve"] and not f["engine"].endswith(", log") and (f["budget"] or f["most_us"] or f["row"] == "memory")]
    users = users_of(figures)
    known = {(f["row"], f["engine"], f["user"]): f for f in figures}
    lines = []
    for row, engine in dict.fromkeys((f["row"], f["engine"]) for f in figures):
        of_users = [known.get((row, engine, user)) for user in users]
        one = next(f for f in of_users if f)
        lines.append([title(one), engine, *map(cell, of_users), budget(one), f"{one['noise']:.2f}" if one["noise"] else "–"])
    return table(["command", "how", *users, "budget", "noise"], lines)


def beside(figures):
    user = users_of(figures)[0]
    figures = [f for f in figures if f["user"] == user and not f["curve"]]
    names = list(dict.fromkeys(f["row"] for f in figures if f["peer"]))
    if not names:
        return "No other tool was installed."
    ours = list(dict.fromkeys(f["engine"] for f in figures if f["row"] in names and not f["peer"]))
    ways = ours + list(dict.fromkeys(f["engine"] for f in figures if f["peer"]))
    known = {(f["row"], f["engine"]): f for f in figures}
    lines = []
    for name in names:
        one = next(f for f in figures if f["row"] == name)
        found = [known.get((name, way)) for way in ways]
        lines.append([title(one), seconds(one["bare"]), *(f"{f['ratio']:.2f}" if f else "–" for f in found)])
    return table(["command", "bare", *ways], lines)


def growth(figures):
    lines = []
    for figure in figures:
        if figure["curve"]:
            what, amount = figure["curve"]
            lines.append([what, f"{amount:,}", figure["user"], f"{figure['extra_us']:.2f}", ratio(figure)])
    return table(["what grows", "how much", "as", "us more", "ratio"], lines) if lines else "Not measured."


def steps(path):
    if not path:
        return "Not measured."
    with open(path) as file:
        figures = json.load(file)["figures"]
    return table(["step", "ns", "instructions"], [[f["title"], f"{f['ns']:,.0f}", f"{f['instructions']:,.0f}" if f["instructions"] else "–"]
                                                  for f in figures])


def machine_text(machine):
    kind = "virtual machine" if machine["virtual"] else "machine"
    return (f"a {kind} with {machine['cpus']} processors ({machine['model']}) and {machine['memory_gb']} GB of memory, "
            f"{machine['system']}, Linux {machine['kernel']}, load {machine['load']:g} at the start")


def picture(folder, name, text):
    return f"![{text}]({name})" if os.path.exists(f"{folder}/{name}") else ""


def main():
    source, folder = sys.argv[1:3]
    with open(source) as file:
        found = json.load(file)
    figures, machine = found["figures"], found["machine"]
    with open(f"{HERE}/PERFORMANCE.in.md") as file:
        text = file.read()
    for mark, value in {
            "WHEN": machine["when"], "MACHINE": machine_text(machine), "PAIRS": str(machine["pairs"]),
            "BUDGETS": budgets(figures), "PEERS": beside(figures), "GROWTH": growth(figures), "STEPS": steps(sys.argv[3] if len(sys.argv) > 3 else None),
            "PICTURE": picture(folder, "performance.svg", "ratios to the bare command, by row and tool"),
            "GROWTH_PICTURE": picture(folder, "growth.svg", "how the cost of one open grows")}.items():
        text = text.replace(f"@{mark}@", value)
    sys.stdout.write(text.rstrip() + "\n")


if __name__ == "__main__":
    main()
