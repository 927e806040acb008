#!/bin/sh -eu
input=$(cat)
printf '{"edge_output": %s}' "$input"
