"""Before torch and the rest are imported: all comes from folders, nothing from a hub; one thread is quickest here."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
