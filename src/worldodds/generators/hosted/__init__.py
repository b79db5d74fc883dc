"""World models behind a provider's API, one file a provider, over one HTTP client that sorts what goes wrong."""
