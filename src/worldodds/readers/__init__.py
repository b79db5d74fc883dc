"""Whoever reads an outcome from a clip, one file each; `worldodds.protocols.Reader` says what they have in common."""
