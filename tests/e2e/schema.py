# SPDX-License-Identifier: Apache-2.0
"""schema.py AGENTWATCH SCHEMA FILE...: the parser and the JSON Schema agree on these files.

Both must accept a file, or both must refuse it, unless what the parser has to say is about
more than keys and kinds of values.  Prints TAP lines without numbers.
"""
import json
import re
import subprocess
import sys

import jsonschema
import yaml

# What a schema can see; the parser's other sentences are about the meaning of values.
SEEN = re.compile(
    r"unknown key|is not one of|expected a map|expected a list|expected one word|expected version|"
    r"[a-z0-9]' is missing|not available in this version|expected (a|the) (path|name|text)|"
    r"is not a (number|size|time)|for limits\.|an empty (file|entry)"
)


class Core(yaml.SafeLoader):
    """YAML 1.2: on, off, yes and no are words; merge keys and dates do not exist."""


Core.yaml_implicit_resolvers = {}
for tag, pattern, first in (
    ("bool", r"^(?:true|false)$", "tf"),
    ("null", r"^(?:null|~|)$", ["n", "~", ""]),
    ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)$", "-+.0123456789"),
):
    Core.add_implicit_resolver("tag:yaml.org,2002:" + tag, re.compile(pattern), list(first))


def as_json(value):
    """The same with keys that are texts, as JSON has them."""
    if isinstance(value, dict):
        return {str(key): as_json(one) for key, one in value.items()}
    return [as_json(one) for one in value] if isinstance(value, list) else value


def errors_of(agentwatch, paths):
    """What `policy check` says, by file."""
    said = subprocess.run(
        [agentwatch, "policy", "check", *paths], capture_output=True, text=True, errors="replace"
    ).stdout
    errors = {path: [] for path in paths}
    for line in said.splitlines():
        if ": error: " in line:
            errors[line.split(":", 1)[0]].append(line)
    return errors


def document(path):
    """The document, or None when it is not even YAML."""
    try:
        with open(path, "rb") as file:
            return [as_json(yaml.load(file.read(), Core))]
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError, TypeError):
        return None


def main():
    agentwatch, schema, *paths = sys.argv[1:]
    with open(schema, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    print("ok - the schema is one, of draft 2020-12")
    validator = jsonschema.Draft202012Validator(schema)
    said = errors_of(agentwatch, paths)
    seen = 0
    for path in paths:
        parsed = document(path)
        errors = said[path]
        if parsed is None:
            continue
        problem = next(iter(validator.iter_errors(parsed[0])), None)
        if errors and any(SEEN.search(line) for line in errors):
            good = problem is not None
            seen += 1
        else:
            good = problem is None or bool(errors)
        print(f"{'ok' if good else 'not ok'} - {path}")
        if not good:
            print(f"# schema: {problem.message if problem else 'accepts it'}")
            for line in errors:
                print(f"# parser: {line}")
    print(f"{'ok' if seen >= 20 else 'not ok'} - {seen} of them are refused by both")


main()
