#!/bin/sh
# Prints its argument in capital letters.
printf '%s!' "$1" | tr 'a-z' 'A-Z'
