"""An entrance exam for readers: simulated clips whose truth is known, whole and spoiled in every way we can stage."""
