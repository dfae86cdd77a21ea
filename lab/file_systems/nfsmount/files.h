/* Open files: their reads, and their writes that are answered before the server has. */
#ifndef FILES_H
#define FILES_H
#define FUSE_USE_VERSION 31
#include <fuse.h>

/* Wait for the writes to a path that are under way: before they are answered, the server tells a size too small. */
void await_writes(const char *path);
/* Wait until every write of an open file (NULL for none) is answered; return the first error, and forget it. */
int settle_open(struct fuse_file_info *info);

int open_file(const char *path, struct fuse_file_info *info);
int create_file(const char *path, mode_t mode, struct fuse_file_info *info);
int read_file(const char *path, char *into, size_t size, off_t offset, struct fuse_file_info *info);
int write_file(const char *path, const char *from, size_t size, off_t offset, struct fuse_file_info *info);
int flush_file(const char *path, struct fuse_file_info *info);
int sync_file(const char *path, int only_data, struct fuse_file_info *info);
int release_file(const char *path, struct fuse_file_info *info);

#endif
