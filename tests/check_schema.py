#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check reports, comparisons and lists: strict JSON, the schema, that it names every key, and what
a schema cannot say (sums and order).

usage: check_schema.py FILE...      "-": standard input; JSON Lines: every line
Prints one line for each fault. Exit: 0 all fine, 1 a fault, 2 usage, 77 no jsonschema here.
"""
import functools
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("check_schema.py: python3-jsonschema is not installed", file=sys.stderr)
    sys.exit(77)

SOURCE = pathlib.Path(__file__).resolve().parents[1]
REPORT = "timerlat-report/1"
SCHEMAS = {f"timerlat-{kind}/1": SOURCE / f"libtimerlat/{kind}.schema.json"
           for kind in ("report", "comparison", "list")}
COUNTED = ("recorded", "early", "overflow", "missed", "unfinished")


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def refuse_duplicates(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError(f"a key stands twice in {[key for key, _ in pairs]}")
    return members


def parse(line):
    return json.loads(line.decode("utf-8", "strict"), parse_constant=refuse_constant,
                      object_pairs_hook=refuse_duplicates)


@functools.lru_cache(None)
def validator(schema=REPORT):
    """Of a schema that any parser reads alike."""
    found = parse(SCHEMAS[schema].read_bytes())
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def applying(schema, node, root):
    """The schema and all that it refers to for this node; of alternatives every one."""
    if not isinstance(schema, dict):
        return
    yield schema
    parts = [*schema.get("allOf", ()), *schema.get("anyOf", ())]
    if "$ref" in schema:
        parts.append(root["$defs"][schema["$ref"].rpartition("/")[2]])
    if "if" in schema:
        condition = jsonschema.Draft202012Validator({**schema["if"], "$defs": root["$defs"]})
        parts.append(schema.get("then" if condition.is_valid(node) else "else"))
    for part in parts:
        yield from applying(part, node, root)


def below(schemas, key):
    """What schemas say of a member: of its name, or of any that they do not name."""
    for schema in schemas:
        named = schema.get("properties", {})
        if key in named:
            yield named[key]
        elif isinstance(schema.get("additionalProperties"), dict):
            yield schema["additionalProperties"]


def unnamed(node, schemas, root, where=""):
    """Keys, wherever they are, that no schema names: nobody can look up what they mean."""
    schemas = [part for schema in schemas for part in applying(schema, node, root)]
    if isinstance(node, list):
        items = [schema["items"] for schema in schemas if "items" in schema]
        for i, item in enumerate(node):
            if isinstance(item, (dict, list)):
                yield from unnamed(item, items, root, f"{where}[{i}]")
    elif isinstance(node, dict):
        for key, value in node.items():
            found = list(below(schemas, key))
            if not found:
                yield f"{where}.{key} is not in the schema"
            elif isinstance(value, (dict, list)):
                yield from unnamed(value, found, root, f"{where}.{key}")


def total(pairs):
    return sum(count for _, count in pairs)


def is_ascending(pairs):
    return all(a[0] < b[0] for a, b in zip(pairs, pairs[1:]))


def check_histogram(counts, histogram, where):
    if histogram is None:
        if counts["recorded"] or counts["early"] or counts["overflow"]:
            yield f"{where}: counts without a histogram"
        return
    for name, key in (("recorded", "counts"), ("early", "early")):
        if total(histogram[key]) != counts[name]:
            yield f"{where}: histogram.{key} adds up to {total(histogram[key])}, " \
                  f"counts.{name} is {counts[name]}"
        if not is_ascending(histogram[key]):
            yield f"{where}: histogram.{key} does not ascend"


def check_figures(result, where):
    summary = result["summary"]
    samples = sum(result["counts"][name] for name in ("recorded", "early", "overflow"))
    if (summary is None) != (samples == 0):
        yield f"{where}: summary is {summary} with {samples} samples"
    if summary is None:
        return
    keys = ("min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns")
    known = [summary[key] for key in keys if summary[key] is not None]
    if known != sorted(known):
        yield f"{where}: figures of the summary do not ascend: {known}"
    for key in keys[1:-1]:
        if (summary[key] is None) != (key in result["needs"]):
            yield f"{where}: {key} is null, or needs tells of it, but not both"
        if (summary[key] is None) == (key in result["interval"]):
            yield f"{where}: {key} has a value, or an interval, but not both"
    for key, (low, high) in result["interval"].items():
        if not low <= summary[key] <= high:
            yield f"{where}: {key} {summary[key]} is outside its interval [{low}, {high}]"


def check_result(result, where):
    counts = result["counts"]
    parts = sum(counts[name] for name in COUNTED) + sum(counts["rejected"].values())
    if counts["asked"] != parts:
        yield f"{where}: asked is {counts['asked']}, the parts add up to {parts}"
    yield from check_histogram(counts, result["histogram"], where)
    yield from check_figures(result, where)
    in_blocks = 0
    for block in result["blocks"]:
        in_blocks += block["n"]
        if block["n"] != sum(block["counts"][1::2]):
            yield f"{where}: a block of {block['n']} has {sum(block['counts'][1::2])}"
        indices = block["counts"][::2]
        if len(block["counts"]) % 2 or indices != sorted(set(indices)):
            yield f"{where}: a block's counts are not index and count in turn, ascending"
    if in_blocks > counts["recorded"] + counts["early"] + counts["overflow"]:
        yield f"{where}: blocks hold {in_blocks}, more than were recorded"
    for outlier in result["outliers"]:
        if (outlier["block"] is None) != (not result["blocks"]):
            yield f"{where}: an outlier has no block, or there are none, but not both"
        elif result["blocks"] and outlier["block"] >= len(result["blocks"]):
            yield f"{where}: an outlier is in block {outlier['block']}, which is not there"
    values = [outlier["value_ns"] for outlier in result["outliers"]]
    if values != sorted(values, reverse=True):
        yield f"{where}: outliers do not descend"
    if values and values[0] != result["summary"]["max_ns"]:
        yield f"{where}: the largest outlier {values[0]} is not max_ns"


def check_document(document):
    """Faults of a document, by the schema that it says it has."""
    schema = document.get("schema") if isinstance(document, dict) else document
    if not isinstance(schema, str) or schema not in SCHEMAS:
        return [f"schema is {repr(schema)[:80]}"]
    checker = validator(schema)
    faults = [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
              for error in checker.iter_errors(document)]
    faults += unnamed(document, [checker.schema], checker.schema)
    if not faults and schema == REPORT:
        for i, result in enumerate(document["results"]):
            if result["kind"] == "latency":
                faults += check_result(result, f"results[{i}] ({result['probe']})")
    return faults


def documents(path):
    """Every document of the file: it is one, or each of its lines is one."""
    text = sys.stdin.buffer.read() if path == "-" else pathlib.Path(path).read_bytes()
    try:
        return [parse(text)]
    except ValueError:
        lines = [line for line in text.split(b"\n") if line.strip()]
        if len(lines) < 2:
            raise
        return [parse(line) for line in lines]


def main(paths):
    if not paths:
        print(__doc__, file=sys.stderr)
        return 2
    faults = 0
    for path in paths:
        try:
            found = [fault for document in documents(path) for fault in check_document(document)]
        except (ValueError, OSError) as error:
            found = [str(error)]
        for fault in found:
            print(f"{path}: {fault}")
        faults += len(found)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
