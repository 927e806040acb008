# Splits a diff: one JSON object for each file, with the lines that were added.
function quoted(s) {
  gsub(/\\/, "\\\\", s)
  gsub(/"/, "\\\"", s)
  gsub(/\t/, "  ", s)
  return "\"" s "\""
}
function flush() {
  if (name != "") print "{\"name\": " quoted(name) ", \"added\": [" added "]}"
}
/^diff --git / { flush(); name = ""; added = ""; next }
/^\+\+\+ / { name = substr($0, 7); next }
/^\+/ { added = added (added == "" ? "" : ", ") quoted(substr($0, 2)) }
END { flush() }
