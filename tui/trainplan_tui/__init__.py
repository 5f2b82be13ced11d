"""The app and the command line of trainplan-tui."""
