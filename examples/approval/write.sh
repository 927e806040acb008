echo "Dear reader, version 2 is out."
