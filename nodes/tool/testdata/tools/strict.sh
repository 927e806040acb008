#!/usr/bin/env -S bash -e
values=(a b)
false
printf '{"edge_output": "%s"}' "${values[1]}"
