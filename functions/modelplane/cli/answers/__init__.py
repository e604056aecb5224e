"""What the commands about a fleet do: a command imports its module here once its arguments are read."""
