#!/usr/bin/env python3
"""The straight way of a push through the sources, from the changed ref to the page.

trace_push.py          functions, files and folders on it, one step a line
trace_push.py --list   each function, too

Between two steps named below the shortest chain of calls counts; a function whose address is taken counts as called. Exit status 1 if a step
is not in the sources or no chain leads to it, so that the list follows the code.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Each row is an interval inside one process, from one step to the next; between rows are child processes, database rows or
# messages.
WAY = [
    ("the kernel reports a changed ref", "flopwatchd/watch/ref_watch.c:on_event"),
    ("the daemon asks flopwatch-git for the tips", "flopwatchd/watch/watch.c:on_ref_change", "lib/child.c:child_start"),
    ("flopwatch-git prints them", "git/verbs.c:body_tips", "git/verbs.c:print_tip"),
    ("a changed tip becomes a queued job", "flopwatchd/watch/watch.c:on_tips", "flopwatchd/watch/branch_tips.c:write_job", "db/job.c:store_job_insert"),
    ("the queue resolves the job", "flopwatchd/schedule/queue.c:assign_jobs", "flopwatchd/plan/resolve.c:resolve_start"),
    ("its commit's tree is read", "flopwatchd/plan/resolve.c:on_start", "flopwatchd/plan/resolve.c:query_tree"),
    ("its base is chosen", "flopwatchd/plan/resolve.c:on_target_tree", "flopwatchd/plan/resolve.c:query_base"),
    ("the base's tree is read", "flopwatchd/plan/resolve.c:on_merge_base", "flopwatchd/plan/resolve.c:query_tree"),
    ("the plan is complete", "flopwatchd/plan/resolve.c:on_base_tree", "flopwatchd/plan/resolve.c:make_plan"),
    ("and stored", "flopwatchd/schedule/queue.c:on_answer", "db/job.c:store_job_resolve"),
    ("a free slot takes the job", "flopwatchd/schedule/queue.c:assign_jobs", "flopwatchd/session/slot.c:slot_claim", "db/job.c:store_job_send"),
    ("the session sends it", "flopwatchd/session/session.c:session_send", "flopwatchd/session/session.c:write_job", "protocol/protocol.c:protocol_write"),
    ("the worker builds both sides", "worker/serve.c:serve_run", "worker/sandbox/build.c:build_make"),
    ("and measures them in runs", "worker/serve.c:serve_run", "worker/measure.c:measure_run", "worker/runner_child.c:runner_child_run"),
    ("the runner times pairs of calls", "runner/main.c:main", "runner/time.c:time_cell", "runner/timing.c:timing_one"),
    ("the worker judges what it has", "worker/kernel_run.c:take_timings", "worker/bench.c:bench_judge", "verdict/cell_verdict.c:cell_judge"),
    ("the session receives the records", "flopwatchd/session/session.c:on_io", "flopwatchd/job/result.c:result_add"),
    ("the job ends in one transaction", "flopwatchd/session/slot_end.c:slot_finish_job", "flopwatchd/record/judge.c:judge_finish", "verdict/cell_verdict.c:cell_judge"),
    ("with its alert", "flopwatchd/record/judge.c:judge_finish", "flopwatchd/alert/alert.c:alert_open", "db/outbox.c:store_outbox_insert"),
    ("the sender delivers the notification", "flopwatchd/notify/sender.c:send_due", "flopwatchd/notify/request.c:deliver_prepare"),
    ("the page shows the comparison", "web/page/page_comparison.c:page_comparison", "web/page/comparison.c:comparison_read"),
    ("as tables", "web/page/page_comparison.c:page_comparison", "web/page/table.c:comparison_tables"),
]
DEFINITION = re.compile(r"^(static )?[A-Za-z_][^;{}=\n]*?\b(\w+)\(([^;{}]*)\)\s*\n?\{", re.M)


def path_of(name):
    return next(path for path in (ROOT / "daemon" / name, ROOT / name) if path.exists())


def read_functions():
    """{(file, name): text of the body}, and the files of each name that is not static."""
    bodies, known = {}, collections.defaultdict(list)
    for top in ("daemon", "db", "web"):
        for path in sorted((ROOT / top).rglob("*.c")):
            if "node_modules" in path.parts:
                continue
            file = path.relative_to(ROOT / "daemon" if top == "daemon" else ROOT).as_posix()
            text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.S)
            for found in DEFINITION.finditer(text):
                end = text.find("\n}", found.end())
                bodies[file, found[2]] = text[found.end() : end]
                if not found[1]:
                    known[found[2]].append(file)
    return bodies, known


def chain(bodies, known, first, last):
    """The shortest chain of calls, both ends included; None without one."""
    before, queue = {first: None}, collections.deque([first])
    while queue:
        at = queue.popleft()
        if at == last:
            way = []
            while at:
                way.append(at)
                at = before[at]
            return way[::-1]
        for name in dict.fromkeys(re.findall(r"(?<![.\w])(?<!->)[a-z_]\w+", bodies[at])):
            for file in [at[0]] if (at[0], name) in bodies else known.get(name, ()):
                if (file, name) not in before:
                    before[file, name] = at
                    queue.append((file, name))
    return None


def main():
    bodies, known = read_functions()
    seen, wrong = {}, []
    for title, *steps in WAY:
        steps = [tuple(step.split(":")) for step in steps]
        wrong += [f"{file}: has no function {name}" for file, name in steps if (file, name) not in bodies]
        if any(step not in bodies for step in steps):
            continue
        way = [steps[0]]
        for first, last in zip(steps, steps[1:]):
            found = chain(bodies, known, first, last)
            if not found:
                wrong.append(f"no chain of calls leads from {first[0]}:{first[1]} to {last[0]}:{last[1]}")
                found = [first, last]
            way += found[1:]
        seen.update(dict.fromkeys(way))
        print(f"{len(way):4} functions  {title}")
        if sys.argv[1:] == ["--list"]:
            for file, name in way:
                print(f"     {file}:{name}")
    files = {file for file, _ in seen}
    print(f"{len(seen)} functions in {len(files)} files of {len({file.rpartition('/')[0] for file in files})} folders")
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
