"""Small builders for composed objects: plain values in, a manifest out, without decisions or reading."""
