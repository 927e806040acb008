# Simulates a developer who fixes the program: it installs the next draft.
for n in 2 3; do
  if ! [ -e out/draft-$n ]; then
    touch out/draft-$n
    cp drafts/$n.sh out/slug.sh
    exit 0
  fi
done
echo "no ideas left" >&2
exit 1
