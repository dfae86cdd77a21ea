"""File systems of a lab: throttled disks, NFS exports and GlusterFS volumes, each mounted where its file says."""
