"""What the rules of MPI know of metrics and parameters."""

# Times: the smaller is the better.
COSTS = frozenset({"io_time", "run_time", "time", "latency"})
# What an A/B measurement keeps of the setting.
KEPT = {
    "btio": (
        "problem",
        "subtype",
        "ranks",
        "node_placement",
        "core_placement",
        "collective_nodes",
        "collective_size",
    ),
    "ior": ("api", "collective", "block_size", "transfer_size", "ranks", "file_per_process"),
    "imb": ("benchmark", "ranks", "message_size"),
    "mdtest": ("items", "kind", "ranks"),
}
