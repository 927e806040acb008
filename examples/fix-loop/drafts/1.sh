# slug TITLE: first draft. It forgets capitals.
printf '%s\n' "$1" | tr -s ' ' '-'
