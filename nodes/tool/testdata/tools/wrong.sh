echo '{"state_detla": {"a": 1}}'
