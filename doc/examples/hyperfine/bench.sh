#!/bin/sh
# Two programs that sort, timed as whole processes.
seq 20000 -1 1 >numbers
hyperfine --warmup 2 --runs 10 --export-json times.json --command-name sort 'sort -n numbers' --command-name tac 'tac numbers'
