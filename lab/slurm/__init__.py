"""Slurm on a lab's nodes: its own configuration, key and state, and no service of the machine."""
