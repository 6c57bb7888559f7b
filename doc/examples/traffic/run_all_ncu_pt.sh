#!/bin/sh
# Traffic of attention and BigBird: profile_attention-pt.csv, profile_bigbird-pt.csv and traffic.csv in the folder, default traffic-pt.
exec flopwatch profile --suite '*-pt' --artefacts "${1:-traffic-pt}"
