#!/bin/sh
# Prints its argument in capitals.
printf '%s!' "$1" | tr 'a-z' 'A-Z'
