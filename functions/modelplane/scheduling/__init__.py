"""Fleet scheduling: one pure entry, `schedule`, over the values of `modelplane.model`."""
