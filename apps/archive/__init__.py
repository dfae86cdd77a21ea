"""What is shared and exchanged: search, permanent pages, imports, exports, archives of campaigns, retention."""
