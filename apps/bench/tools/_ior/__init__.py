"""What IOR and mdtest, which belong together, share: their launch, their words, their recorded command lines."""
