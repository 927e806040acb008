# slug TITLE: first draft. It does not convert capitals.
printf '%s\n' "$1" | tr -s ' ' '-'
