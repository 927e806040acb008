# Tests a slug program; prints the failures and exits with 1 if there are any.
failed=0
check() {
  got=$(sh "$program" "$1")
  if [ "$got" != "$2" ]; then
    echo "slug '$1' is '$got', want '$2'"
    failed=1
  fi
}
program=$1
check "hello world" hello-world
check "Hello World" hello-world
check "Goal: gates, joins & loops!" goal-gates-joins-loops
exit $failed
