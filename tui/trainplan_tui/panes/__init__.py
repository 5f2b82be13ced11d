"""The panes: each a ledger of rows drawn from what it is shown. Panes do not know each other."""
