#!/usr/bin/env python3
"""action_steps.py ACTION.yml [INPUT=VALUE...]: the steps of a composite action, as a runner of GitHub has them.

Each step's shell runs with its own environment, with GITHUB_OUTPUT and its kin, and with what steps before it put into GITHUB_PATH; the first
that fails ends it, with its status. Afterwards prints, on standard output and behind what the steps printed, NAME=VALUE of each output of the
action, then the summary. Only the expressions inputs.NAME and steps.ID.outputs.NAME are known; the test gives what a default takes from the event.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

path = pathlib.Path(sys.argv[1]).resolve()
action = yaml.safe_load(path.read_text())
given = dict(argument.split("=", 1) for argument in sys.argv[2:])
outputs = {}

assert set(action) <= {"name", "description", "inputs", "outputs", "runs"}, set(action)
assert action["name"] and action["description"] and action["runs"]["using"] == "composite"
assert not set(given) - set(action["inputs"]), set(given) - set(action["inputs"])
for name, one in {**action["inputs"], **action["outputs"]}.items():
    assert one["description"], name
inputs = {name: given.get(name, one.get("default")) for name, one in action["inputs"].items()}
missing = [name for name, value in inputs.items() if value is None]
assert not missing, f"required: {missing}"


def value_of(expression):
    kind, *rest = expression.strip().split(".")
    if kind == "inputs":
        return inputs[rest[0]]
    assert kind == "steps" and rest[1] == "outputs", expression
    return outputs.get(rest[0], {}).get(rest[2], "")


def filled(text):
    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: value_of(found[1]), str(text))


status = 0
with tempfile.TemporaryDirectory() as folder:
    kept = {name: pathlib.Path(folder, name) for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
    summary = ""
    search = os.environ["PATH"]
    for step in action["runs"]["steps"]:
        assert step["name"] and step["shell"] == "bash" and set(step) <= {"name", "id", "shell", "env", "run"}, step
        assert "${{" not in step["run"], "what others wrote must come as a variable, never as part of a script"
        for file in kept.values():
            file.write_text("")
        script = pathlib.Path(folder, "step.sh")
        script.write_text(step["run"])
        environment = {**os.environ, "PATH": search, "GITHUB_ACTION_PATH": str(path.parent), **{name: str(file) for name, file in kept.items()}}
        environment.update({name: filled(text) for name, text in step.get("env", {}).items()})
        status = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], env=environment, check=False).returncode
        search = ":".join(kept["GITHUB_PATH"].read_text().split("\n")[:-1][::-1] + [search])
        outputs[step.get("id")] = dict(line.split("=", 1) for line in kept["GITHUB_OUTPUT"].read_text().splitlines())
        summary += kept["GITHUB_STEP_SUMMARY"].read_text()
        if status:
            break
for name, one in action["outputs"].items():
    print(f"{name}={filled(one['value'])}")
print(summary, end="")
sys.exit(status)
