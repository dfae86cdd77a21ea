"""What leaves: selections as tables with a description, and whole campaigns as archives that come in elsewhere."""
