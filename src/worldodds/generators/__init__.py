"""World models that can be filmed, one file each; `worldodds.protocols.Generator` says what they have in common."""
