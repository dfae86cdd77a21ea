"""The oracle: simulated worlds whose truth is known, written and analysed by the product, and judged."""
