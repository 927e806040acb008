# Books a bill: the line itself, and the amount at its end.
{
  gross = $(NF - 1)
  gsub(/["\\]/, "\\\\&")
  printf "{\"state_delta\": {\"bills\": [\"%s\"], \"revenue\": %d}}\n", $0, gross
}
