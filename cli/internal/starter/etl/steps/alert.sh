#!/bin/sh
# Here you would send a message; this one writes a file.
mkdir -p out
printf '%s\n' "$1" >out/alert.txt
