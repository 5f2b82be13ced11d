"""What files of token data say a source has, each format in its own module, and the edit that writes it into a plan."""
