# Reviews added lines for what an attacker would like. A stand-in for a model.
function found(what, weight) {
  list = list (list == "" ? "" : ", ") "{\"file\": \"" file "\", \"line\": " NR ", \"finding\": \"" what "\", \"risk\": " weight "}"
  risk += weight
}
/Printf?\(.*password/ { found("a password is logged", 4) }
/SELECT .*['"] *\+/ { found("SQL is put together from texts", 5) }
END { printf "{\"state_delta\": {\"findings\": [%s], \"risk\": %d}}\n", list, risk }
