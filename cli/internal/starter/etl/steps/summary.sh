#!/bin/sh
# Words the result: best country, its total.
printf '%s sold most: %s' "$1" "$2"
