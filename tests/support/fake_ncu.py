#!/usr/bin/env python3
"""A stand-in for ncu, for tests without a GPU: it runs the program of its command line, and then prints a table in ncu's format.

The program writes the names of its "kernels", one a line, to the file that FAKE_NCU_KERNELS names; each line is a launch. The counters are
made up from the name and the position. Nothing is counted.

With -o it writes a report instead, as ncu does, of what the program printed; --import prints the report's raw page. FAKE_NCU_FAILS: a pattern
of programs that ncu may not count; ncu then says FAKE_NCU_ERROR.
"""
import fnmatch
import os
import subprocess
import sys

METRICS = {"gpu__time_duration.sum": "ns", "dram__bytes_read.sum": "byte", "dram__bytes_write.sum": "byte", "lts__t_sectors.sum": "sector",
    "lts__t_sectors_lookup_hit.sum": "sector", "l1tex__t_sectors.sum": "sector", "l1tex__t_sectors_lookup_hit.sum": "sector"}


def write_report(options, words):
    assert options["--set"] == "full" and options["--profile-from-start"] == "off" and "--force-overwrite" in options, options
    print("==PROF== Connected to process 1")
    sys.stdout.flush()
    result = subprocess.run(words, stdout=subprocess.PIPE, check=False)
    sys.stdout.write(result.stdout.decode())
    if fnmatch.fnmatch(" ".join(words), os.environ.get("FAKE_NCU_FAILS", "")):
        print("==ERROR== " + os.environ["FAKE_NCU_ERROR"])
        return 1
    with open(options["-o"] + ".ncu-rep", "wb") as report:
        report.write(result.stdout)
    return result.returncode


def print_page(options):
    assert options["--page"] == "raw" and os.environ["LC_ALL"] == "C", options
    with open(options["--import"]) as report:
        print("made-up raw page of: " + report.readline().rstrip())
    return 0


def main(words):
    options = {}
    while words and words[0].startswith("-"):
        options[words[0]], words = (words[1], words[2:]) if words[0] not in ("--csv", "--force-overwrite") else ("", words[1:])
    if "-o" in options:
        return write_report(options, words)
    if "--import" in options:
        return print_page(options)
    names = options["--metrics"].split(",")
    assert options["--page"] == "raw" and options["--print-units"] == "base" and "--csv" in options, options
    assert options["--target-processes"] == "all" and set(names) <= set(METRICS), options
    print("==PROF== Connected to process 1")
    sys.stdout.flush()
    status = subprocess.call(words)
    if status:
        print("==ERROR== The application returned an error code (%d)." % status)
        return status
    with open(os.environ["FAKE_NCU_KERNELS"]) as launches:
        kernels = launches.read().split("\n")[:-1]
    print('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",' +
        ",".join('"%s"' % name for name in names))
    print(",".join('""' for _ in range(11)) + "," + ",".join('"%s"' % METRICS[name] for name in names))
    seen = {}
    for i, kernel in enumerate(kernels):
        n = seen[kernel] = seen.get(kernel, 0) + 1
        scale = 1000 if n <= int(os.environ.get("FAKE_NCU_WARM", 0)) else 1  # warm-up launches are unlike the others
        value = {"gpu__time_duration.sum": 2000, "dram__bytes_read.sum": 3000000, "dram__bytes_write.sum": 1000000, "lts__t_sectors.sum": 250000,
            "lts__t_sectors_lookup_hit.sum": 200000, "l1tex__t_sectors.sum": 500000, "l1tex__t_sectors_lookup_hit.sum": 125000}
        print('"%d","1","python3","host","%s","1","7","(128, 1, 1)","(132, 1, 1)","0","9.0",' % (i, kernel) +
            ",".join('"%d"' % (scale * value[name]) for name in names))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
