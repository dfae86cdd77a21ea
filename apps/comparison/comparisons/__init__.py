"""Any sets of results side by side: chosen by an address, which says all that the page shows."""
