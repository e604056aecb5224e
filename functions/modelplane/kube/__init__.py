"""Small builders for the objects we compose: plain values in, a manifest out; no decisions, no reading."""
