#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prose.py: measure the language of pages and help texts.

prose.py PAGE...            print one line per page, then each finding
prose.py --ceilings FILE PAGE...
                            fail when a page exceeds its row in FILE; a page without a row is strict

A finding is a sentence of more than 40 words, a line of more than 100 columns, or a word that the
project does not use. The median counts words a sentence, outside of tables. A page named *.help is output of --help.
A row of FILE is: page, median, long sentences, wide lines, unwanted words. Rows may only fall.
"""
import re
import statistics
import sys

COLUMNS = 100
WORDS = 40
MEDIAN = 18

# What must not occur in prose, and what to write instead.
UNWANTED = [
    (r"walls?", "sandbox"),
    (r"the front", "the launcher"),
    (r"the keeper", "the fallback supervisor"),
    (r"personas?", "credentials"),
    (r"folders?", "directory"),
    (r"small letters", "lower case"),
    (r"(and|or) (their|its) kin", "and similar"),
    (r"kin", "and similar"),
    (r"parted by", "separated by"),
    (r"IPv6 clothing", "IPv4-mapped"),
    (r"hand(s|ed)? over on behalf", "emulate"),
    (r"(done|made|makes|made anew) (it |them )?on behalf", "emulate"),
    (r"says hello", "registers"),
    (r"wish(es)?", "option"),
    (r"gets out of hand", "exceeds a limit"),
    (r"to be had", "available"),
    (r"which which|who asks", "a noun and a verb"),
    (r"by whom", "active voice"),
    (r"the sign", "the character"),
    (r"MOST|LEAST", "MAX, MIN"),
    (r"honest list", "list"),
    (r"without a word", "by default"),
    (r"put(s)? a wall", "runs in a sandbox"),
    (r"held softly", "weakly enforced"),
    (r"makes it anew", "reopens"),
]
UNWANTED = [(re.compile(r"\b(?:%s)\b" % word), use) for word, use in UNWANTED]


def plain(text):
    """Text without markup; code counts as one word."""
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"``.*?``|`[^`]*`", "code", text)
    return re.sub(r"[*_]{2}|<[^>]*>", "", text)


def markdown(lines):
    """Blocks of prose as (line number, text); a table's cell and a list's item are blocks."""
    block, start, fence = [], 0, False
    for number, line in enumerate(lines + [""], 1):
        text = line.strip()
        starts_item = re.match(r"([-*]|\d+\.)\s", text)
        if block and (not text or starts_item or text[0] in "#|" or text.startswith("```")):
            yield start, plain(" ".join(block))
            block = []
        if text.startswith("```"):
            fence = not fence
        elif fence or not text or text[0] == "#" or (not block and re.match(r"( {4}|\t)\S", line)
                                                      and not starts_item and not in_list(lines, number)):
            continue
        elif text[0] == "|":
            for cell in re.split(r"(?<!\\)\|", text):
                if re.search(r"\w", cell):
                    yield number, plain(cell.strip())
        else:
            if not block:
                start = number
            block.append(text[starts_item.end():] if starts_item else text)


def in_list(lines, number):
    """Whether an indented line continues a list's item."""
    for line in reversed(lines[:number - 1]):
        if re.match(r"\s*([-*]|\d+\.)\s", line):
            return True
        if line.strip() and not line.startswith(" "):
            return False
    return False


def help_text(lines):
    """Blocks of the output of --help: paragraphs, and what stands beside an option."""
    block, start = [], 0
    for number, line in enumerate(lines + [""], 1):
        columns = re.split(r"\s{2,}", line.strip())
        starts_item = line.startswith("  ") and (columns[0].startswith("-") or len(columns) > 1)
        if block and (not line.strip() or starts_item):
            yield start, plain(" ".join(block))
            block = []
        text = columns[-1] if starts_item else line.strip()
        if not text or line.startswith(("Usage:", "      agentwatch")):
            continue
        if starts_item and len(columns) == 1:
            continue
        if not block:
            start = number
        block.append(text)


def sentences(text):
    """The sentences of a block."""
    for part in re.split(r"(?<=[.!?])[)\"']*\s+(?=[A-Z\"'(]|code\b)", text):
        count = len(re.findall(r"[^\W_][\w'’.,/:-]*", part))
        if count:
            yield part, count


class Page:
    """What is measured of one page."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        if lines and not lines[-1]:
            lines.pop()
        self.counts, self.long, self.wide, self.words = [], [], [], []
        for number, line in enumerate(lines, 1):
            if len(line.expandtabs(8)) > COLUMNS:
                self.wide.append((number, "%d columns" % len(line.expandtabs(8))))
        for number, text in (help_text if path.endswith(".help") else markdown)(lines):
            in_table = lines[number - 1].lstrip().startswith("|")
            for part, count in sentences(text):
                if not in_table:
                    self.counts.append(count)
                if count > WORDS:
                    self.long.append((number, "%d words: %s" % (count, part[:70])))
            for pattern, use in UNWANTED:
                for match in pattern.finditer(text):
                    self.words.append((number, "'%s': write '%s'" % (match.group(), use)))
        self.median = statistics.median(self.counts) if self.counts else 0

    def measures(self):
        return [self.median, len(self.long), len(self.wide), len(self.words)]


def main(arguments):
    ceilings = {}
    if arguments[:1] == ["--ceilings"]:
        with open(arguments[1], encoding="utf-8") as file:
            for line in file:
                row = line.split("#")[0].split()
                if row:
                    ceilings[row[0]] = [float(value) for value in row[1:]]
        arguments = arguments[2:]
    failed = False
    for path in arguments:
        page = Page(path)
        ceiling = ceilings.get(path, [MEDIAN, 0, 0, 0])
        print("%s %g %d %d %d" % (path, *page.measures()))
        for have, most, findings in zip(page.measures(), ceiling,
                                        ([(1, "median %g" % page.median)], page.long, page.wide, page.words)):
            if have > most:
                failed = True
                for number, what in findings[:20]:
                    print("%s:%d: %s" % (path, number, what))
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
