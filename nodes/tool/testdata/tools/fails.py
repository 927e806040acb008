raise ValueError("no such customer")
