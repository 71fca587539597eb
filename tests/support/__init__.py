"""What tests share: tiny models, oracles, builders, and processes that fail on purpose."""
