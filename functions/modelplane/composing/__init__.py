"""What the composition functions share: placing objects on a cluster, holding, orphaning, requirements, messages."""
