"""What keys do, by subject; none of it draws."""
