# Sends invoice $1. A real program would pass the key on, so that the receiver recognizes a repetition.
set -e
mkdir -p out
echo "$1 $WAVEFOLD_IDEMPOTENCY_KEY" >> out/calls.txt
sleep 0.1
echo "invoice $1"
