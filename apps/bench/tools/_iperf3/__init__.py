"""What the TCP and the UDP tool share: iperf3's options, its commands, its JSON report and its errors."""
