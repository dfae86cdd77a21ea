"""What limits the way to data between two sites: each layer alone, side by side, from the whole archive."""
