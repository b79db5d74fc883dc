"""People as readers: which clips a person labels, a page to label them on, and labels in and out."""
