"""What is shown of an estimate and is no ledger: trees, the JSON contract, differences, listings and curves."""
