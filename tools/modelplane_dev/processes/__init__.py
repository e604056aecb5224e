"""Programs as local processes on free loopback ports, which end with the process that started them."""
