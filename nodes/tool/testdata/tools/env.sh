printf '{"edge_output": ["%s", "%s", "%s", "%s", "%s"]}' \
  "$WAVEFOLD_RUN" "$WAVEFOLD_NODE" "$WAVEFOLD_ATTEMPT" "$WAVEFOLD_IDEMPOTENCY_KEY" "$(basename "$PWD")"
