#!/bin/sh
hyperfine --export-json out.json ./a
./bench --benchmark_out="r.json"
