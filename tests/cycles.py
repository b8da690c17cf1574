#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Find cycles of calls between source files, by the symbols of their object files.

usage: cycles.py [--edges] [--known SIZE,...] OBJECT...

A file depends on another one when it needs an aw_ symbol which that one defines.  Each cycle
(strongly connected component) of more than one file is printed.  One of more than three files
is an error, unless --known lists its size.  The list has to be exact: when a cycle has become
smaller, the list must, too.  --edges prints which symbols connect the files of a cycle.
"""
import argparse
import os
import subprocess
import sys

LIMIT = 3

def read_symbols(objects):
    """Return two dictionaries, from file to names: what it defines, what it needs."""
    defined = {file: set() for file in objects}
    needed = {file: set() for file in objects}
    output = subprocess.run(["nm", "--format=posix", "--print-file-name", "--extern-only", *objects],
                            check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        file, symbol = line.split(": ", 1)
        name, kind = symbol.split()[:2]
        if name.startswith("aw_"):
            (needed if kind in "Uwv" else defined)[file].add(name)
    return defined, needed

def graph_of(objects):
    """Return {file: {file it depends on: names}}."""
    defined, needed = read_symbols(objects)
    owner = {name: file for file, names in defined.items() for name in names}
    graph = {file: {} for file in objects}
    for file, names in needed.items():
        for name in sorted(names):
            if name in owner:
                graph[file].setdefault(owner[name], []).append(name)
    return graph

def finish_order(graph):
    """Return the files in the order in which a depth-first search leaves them."""
    seen, order = set(), []
    for root in sorted(graph):
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(sorted(graph[root])))]
        while stack:
            file, rest = stack[-1]
            following = next((other for other in rest if other not in seen), None)
            if following is None:
                stack.pop()
                order.append(file)
            else:
                seen.add(following)
                stack.append((following, iter(sorted(graph[following]))))
    return order

def components(graph):
    """Return the cycles of more than one file, largest first (Kosaraju's algorithm)."""
    users = {file: set() for file in graph}
    for file, others in graph.items():
        for other in others:
            users[other].add(file)
    seen, found = set(), []
    for root in reversed(finish_order(graph)):
        if root in seen:
            continue
        seen.add(root)
        todo, members = [root], []
        while todo:
            file = todo.pop()
            members.append(file)
            new = users[file] - seen
            seen |= new
            todo.extend(new)
        if len(members) > 1:
            found.append(sorted(members))
    return sorted(found, key=lambda members: (-len(members), members))

def judge(sizes, known):
    """Return an error, or None when the sizes above the limit are those that are known."""
    above = [size for size in sizes if size > LIMIT]
    if above == known:
        return None
    counted = ", ".join(map(str, above)) or "none"
    expected = ", ".join(map(str, known)) or "none"
    if len(above) <= len(known) and all(a <= k for a, k in zip(above, known)):
        return (f"cycles of more than {LIMIT} files have become smaller: {counted}, known are {expected}; "
                "lower the list of known ones (--known)")
    return (f"cycles of more than {LIMIT} files: {counted}, known are {expected}; "
            "move the function that closes the cycle to the file where it belongs, or pass it as an argument")

def source(file, top):
    return os.path.splitext(os.path.relpath(file, top))[0] + ".c"

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--edges", action="store_true")
    parser.add_argument("--known", default="")
    parser.add_argument("objects", nargs="+")
    options = parser.parse_args()
    known = sorted((int(size) for size in options.known.split(",") if size), reverse=True)
    graph = graph_of(options.objects)
    top = os.path.commonpath([os.path.dirname(file) or "." for file in graph])
    found = components(graph)
    for members in found:
        print(f"{len(members)} files:", *(source(file, top) for file in members))
        for file in members if options.edges else []:
            for other in sorted(set(graph[file]) & set(members) - {file}):
                print(f"  {source(file, top)} -> {source(other, top)}:", *graph[file][other])
    error = judge([len(members) for members in found], known)
    if error:
        sys.exit(f"check-cycles: {error}.")

main()
