# slug TITLE: second draft. It does not remove punctuation.
printf '%s\n' "$1" | tr 'A-Z' 'a-z' | tr -s ' ' '-'
