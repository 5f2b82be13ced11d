"""Training logs read back: lines of each framework to events, streamed, and what many events measured."""
