"""Programs as local processes on free loopback ports, which end with whoever started them."""
