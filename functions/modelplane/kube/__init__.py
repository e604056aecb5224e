"""Small builders for the objects we compose: each takes plain values and returns a manifest. No decisions, no reading."""
