/* What FUSE asks of names: attributes, folders, links, and space. Each returns 0 or a negative error number. */
#ifndef NAMES_H
#define NAMES_H
#define FUSE_USE_VERSION 31
#include <fuse.h>
#include <sys/statvfs.h>

/* Give what was just made to the user who made it. */
int give_to_caller(const char *path);
int get_attributes(const char *path, struct stat *to, struct fuse_file_info *info);
int read_link(const char *path, char *into, size_t size);
int make_folder(const char *path, mode_t mode);
int remove_file(const char *path);
int remove_folder(const char *path);
int make_symlink(const char *target, const char *path);
int rename_file(const char *from, const char *to, unsigned flags);
int link_file(const char *from, const char *to);
int change_mode(const char *path, mode_t mode, struct fuse_file_info *info);
int change_owner(const char *path, uid_t uid, gid_t gid, struct fuse_file_info *info);
int change_size(const char *path, off_t size, struct fuse_file_info *info);
int change_times(const char *path, const struct timespec times[2], struct fuse_file_info *info);
int list_folder(const char *path, void *buffer, fuse_fill_dir_t put, off_t offset, struct fuse_file_info *info,
                enum fuse_readdir_flags flags);
int get_space(const char *path, struct statvfs *to);

#endif
