"""The inventory: sites, testbeds, nodes, clusters, switches, links, file systems, and paths over them."""
