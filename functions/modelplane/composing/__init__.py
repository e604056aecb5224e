"""What the composition functions share: where things go on a cluster, how they are held, orphaned and asked for."""
