import json
import sys

doc = json.load(sys.stdin)
print("working on", doc["name"], file=sys.stderr)
json.dump({"state_delta": {"greeting": doc["name"].upper()}, "metrics": {"rows": 1}}, sys.stdout)
