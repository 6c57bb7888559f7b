#!/bin/sh
# Two programs that read lines, timed as whole processes; -N starts no shell, whose time would have to be taken off.
seq 200000 -1 1 >numbers
hyperfine -N --warmup 2 --runs 10 --export-json times.json --command-name sort 'sort -n numbers' --command-name tac 'tac numbers'
