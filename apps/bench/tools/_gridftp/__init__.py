"""What both GridFTP tools share: options, servers and client, the client's report, the servers' logs, the errors."""
