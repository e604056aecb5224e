"""Brute-force statements of the scheduler's rules, written from the rules' text; slow, small and independent."""
