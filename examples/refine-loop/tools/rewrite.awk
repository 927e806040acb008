# Takes the first filler phrase out of a text. One a round, as a careful editor would.
BEGIN {
  n = split("in order to be able|just|very|actual|at the end of the day", filler, "|")
}
{
  for (i = 1; i <= n; i++) {
    at = index(tolower($0), filler[i] " ")
    if (at) {
      $0 = substr($0, 1, at - 1) substr($0, at + length(filler[i]) + 1)
      $0 = toupper(substr($0, 1, 1)) substr($0, 2)
      break
    }
  }
  print
}
