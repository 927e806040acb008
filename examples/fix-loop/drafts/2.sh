# slug TITLE: second draft. It forgets signs.
printf '%s\n' "$1" | tr 'A-Z' 'a-z' | tr -s ' ' '-'
