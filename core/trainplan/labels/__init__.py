"""What fields, quantities and rows are called, in one place for the app, the command line and findings."""
