#!/usr/bin/env python3
"""Check the includes between folders.

layers.py            every include against layers.txt; prints each forbidden one, exit status 1 then
layers.py --figures  folders, includes, cycles, sizes of folders and files, the longest functions
A module is a .c or .cu file with its header. ROOT in the environment: another checkout.
"""
import collections
import os
import pathlib
import re
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = pathlib.Path(os.environ.get("ROOT", HERE.parent))
TOPS = ("daemon", "db", "web")
SUFFIXES = (".c", ".h", ".cu", ".cuh")


def sources(*tops, suffixes=SUFFIXES):
    for top in tops:
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in suffixes and path.is_file() and "node_modules" not in path.parts:
                yield path.relative_to(ROOT).as_posix()


FILES = set(sources(*TOPS))


def module_of(path):
    return os.path.splitext(path)[0]


def folder_of(path):
    return os.path.dirname(path)


def includes(path):
    """(line, file of ours) for each include of one."""
    for n, line in enumerate((ROOT / path).read_text(errors="replace").splitlines(), 1):
        found = re.match(r'#\s*include "([^"]+)"', line)
        if not found:
            continue
        for name in (os.path.join(os.path.dirname(path), found[1]), "daemon/" + found[1], found[1]):
            name = os.path.normpath(name)
            if name in FILES:
                yield n, name
                break


def cycles(graph):
    """Strongly connected sets of more than one, by Tarjan's walk."""
    index, low, stack, found = {}, {}, [], []

    def walk(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in graph.get(v, ()):
            if w not in index:
                walk(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == index[v]:
            at = stack.index(v)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for v in sorted(graph):
        if v not in index:
            walk(v)
    return found


def graphs():
    modules, folders = collections.defaultdict(set), collections.defaultdict(set)
    for path in FILES:
        modules[module_of(path)]
        folders[folder_of(path)]
        for _, other in includes(path):
            if module_of(other) != module_of(path):
                modules[module_of(path)].add(module_of(other))
            if folder_of(other) != folder_of(path):
                folders[folder_of(path)].add(folder_of(other))
    return modules, folders


def read_layers():
    """Folders in their order with their allowed includes, and owners of foreign headers."""
    allowed, owner = {}, {}
    there = {folder_of(path) for path in FILES}
    for line in (HERE / "layers.txt").read_text().splitlines():
        if line.startswith("= "):
            header, path = line[2:].split(": ")
            owner[header] = path
        elif line and not line.startswith("#"):
            folder, _, folders = line.partition(":")
            like = re.compile(re.escape(folder).replace(r"\*", r"([^/]+)"))
            for found in [found for found in map(like.fullmatch, sorted(there)) if found] if "*" in folder else [None]:
                name = found[0] if found else folder
                if name not in allowed or not found:  # the most specific row comes first
                    allowed[name] = [r.replace("*", found[1]) if found else r for r in folders.split()]
    return allowed, owner


def check():
    wrong = []
    allowed, owner = read_layers()
    above = []
    for folder, folders in allowed.items():
        wrong += [f"layers.txt: {folder} names {r}, which is not listed above it" for r in folders if r not in above]
        above.append(folder)
    sizes = collections.Counter(folder_of(m) for m in {module_of(p) for p in FILES})
    for folder, n in sorted(sizes.items()):
        if folder not in allowed:
            wrong.append(f"{folder}: has no line in layers.txt")
    for path in sorted(FILES):
        for n, other in includes(path):
            a, b = folder_of(path), folder_of(other)
            if a != b and b not in allowed.get(a, []):
                wrong.append(f"{path}:{n}: {a} may not include {b}")
        text = (ROOT / path).read_text(errors="replace")
        for header in re.findall(r"^\s*#\s*include <([^>]+)>", text, re.M):
            if owner.get(header, path) != path:
                wrong.append(f"{path}: includes <{header}>, which belongs to {owner[header]}")
            if re.match(r"cuda|nvtx3/", header) and not re.match(r"daemon/(runner|kit|families/\w+)/", path):
                wrong.append(f"{path}: includes <{header}>; CUDA belongs to daemon/runner, daemon/kit, a family's reference and kernels")
    for name in allowed:
        if name not in sizes:
            wrong.append(f"layers.txt: there is no folder {name}")
    return wrong


def functions():
    """(lines, file, name): a body begins with { in the first column and ends with } there."""
    for path in sources(*TOPS, suffixes=(".c", ".cu")):
        begin, name = None, ""
        for n, line in enumerate((ROOT / path).read_text(errors="replace").splitlines(), 1):
            found = re.match(r"[A-Za-z_].*?\b(\w+)\(", line)
            if found and not line.startswith(("typedef", "struct {")):
                name = found[1]
            if line == "{":
                begin = n
            elif line == "}" and begin:
                yield n - begin + 1, path, name
                begin = None


def figures():
    modules, folders = graphs()
    print(f"{len(modules)} modules in {len(folders)} folders, {sum(map(len, folders.values()))} includes between folders")
    print(f"cycles between folders: {len(cycles(folders))}")
    for cycle in cycles(folders):
        print("   ", " ".join(cycle))
    outside = [c for c in cycles(modules) if len({folder_of(m) for m in c}) > 1]
    print(f"cycles between files: {len(cycles(modules))}, outside one folder: {len(outside)}")
    sizes = collections.Counter(folder_of(m) for m in modules)
    for folder in sorted(sizes):
        print(f"{sizes[folder]:4} {folder} -> {' '.join(sorted(folders[folder]))}")
    lines = {p: len((ROOT / p).read_text(errors="replace").splitlines()) for p in sources(*TOPS, suffixes=(".c", ".cu"))}
    print(f"lines a file: median {statistics.median(lines.values()):.0f}, above 600: {sum(n > 600 for n in lines.values())}")
    for path in sorted(lines, key=lines.get, reverse=True)[:8]:
        print(f"{lines[path]:5} {path}")
    print("longest functions:")
    for n, path, name in sorted(functions(), reverse=True)[:20]:
        print(f"{n:5} {path} {name}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--figures"]:
        figures()
    else:
        problems = check()
        print("\n".join(problems), end="\n" if problems else "")
        sys.exit(bool(problems))
