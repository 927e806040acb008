# Simulates a source that sometimes truncates a download: the first call returns a part
# of the file, later calls return all of it.
mkdir -p out
if [ -e out/fetched ]; then
  cp data/seattle-weather.csv out/raw.csv
else
  touch out/fetched
  head -n 900 data/seattle-weather.csv > out/raw.csv
fi
