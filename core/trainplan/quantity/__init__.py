"""Numbers that remember where they came from: figures, formulas with their cards, units, and how people write them."""
