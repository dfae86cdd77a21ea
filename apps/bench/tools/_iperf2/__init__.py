"""What iperf 2 prints, read without trusting it."""
