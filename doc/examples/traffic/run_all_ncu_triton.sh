#!/bin/sh
# Traffic of attention and BigBird: profile_attention-triton.csv, profile_bigbird-triton.csv and traffic.csv in the folder, default traffic-triton.
exec flopwatch profile --suite '*-triton' --artefacts "${1:-traffic-triton}"
