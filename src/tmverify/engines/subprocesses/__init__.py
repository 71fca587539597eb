"""Running work in another process: if it crashes, fills the memory or takes too long, the caller survives."""
