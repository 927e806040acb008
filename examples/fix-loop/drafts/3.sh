# slug TITLE: final draft. It keeps letters, digits and dashes.
printf '%s\n' "$1" | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9\n' '-' | sed 's/^-//; s/-$//'
