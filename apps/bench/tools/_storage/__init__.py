"""What the tools that write files share: the place they write to, the clients that do, and why it fails."""
