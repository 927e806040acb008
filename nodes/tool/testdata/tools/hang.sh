echo ready >&2
sleep 3600 &
wait
