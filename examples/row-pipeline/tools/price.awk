# Prices an order: net, a fifth of it as tax, and the sum of both.
BEGIN {
  net = amount * cents
  tax = int(net / 5 + 0.5)
  printf "{\"net\": %d, \"tax\": %d, \"gross\": %d}\n", net, tax, net + tax
}
