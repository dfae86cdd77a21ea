/* What FUSE asks of names: attributes, folders, links, and space. */
#define _GNU_SOURCE
#include "names.h"

#include "connections.h"
#include "files.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int fill(const struct nfs_stat_64 *from, struct stat *to)
{
    memset(to, 0, sizeof *to);
    to->st_ino = from->nfs_ino;
    to->st_mode = from->nfs_mode;
    to->st_nlink = from->nfs_nlink;
    to->st_uid = from->nfs_uid;
    to->st_gid = from->nfs_gid;
    to->st_rdev = from->nfs_rdev;
    to->st_size = from->nfs_size;
    to->st_blksize = CHUNK;
    to->st_blocks = from->nfs_blocks;
    to->st_atim = (struct timespec){from->nfs_atime, from->nfs_atime_nsec};
    to->st_mtim = (struct timespec){from->nfs_mtime, from->nfs_mtime_nsec};
    to->st_ctim = (struct timespec){from->nfs_ctime, from->nfs_ctime_nsec};
    return 0;
}

int get_attributes(const char *path, struct stat *to, struct fuse_file_info *info)
{
    struct connection *c = any();
    struct nfs_stat_64 found;
    struct call call = CALL_OF(&found, sizeof found);
    (void)info;
    await_writes(path);
    int result = CALL(c, call, nfs_lstat64_async(c->nfs, path, copied, &call));
    return result < 0 ? result : fill(&found, to);
}

int read_link(const char *path, char *into, size_t size)
{
    struct connection *c = any();
    struct call call = CALL_OF(into, size);
    int result = CALL(c, call, nfs_readlink_async(c->nfs, path, told, &call));
    return result < 0 ? result : 0;
}

int give_to_caller(const char *path)
{
    struct fuse_context *who = fuse_get_context();
    return who->uid || who->gid ? SIMPLE(nfs_lchown_async, path, (int)who->uid, (int)who->gid) : 0;
}

int make_folder(const char *path, mode_t mode)
{
    int result = SIMPLE(nfs_mkdir2_async, path, (int)mode);
    return result < 0 ? result : give_to_caller(path);
}

int remove_file(const char *path)
{
    return SIMPLE(nfs_unlink_async, path);
}

int remove_folder(const char *path)
{
    return SIMPLE(nfs_rmdir_async, path);
}

int make_symlink(const char *target, const char *path)
{
    int result = SIMPLE(nfs_symlink_async, target, path);
    return result < 0 ? result : give_to_caller(path);
}

int rename_file(const char *from, const char *to, unsigned flags)
{
    return flags ? -EINVAL : SIMPLE(nfs_rename_async, from, to);
}

int link_file(const char *from, const char *to)
{
    return SIMPLE(nfs_link_async, from, to);
}

int change_mode(const char *path, mode_t mode, struct fuse_file_info *info)
{
    (void)info;
    return SIMPLE(nfs_chmod_async, path, (int)mode);
}

int change_owner(const char *path, uid_t uid, gid_t gid, struct fuse_file_info *info)
{
    (void)info;
    return SIMPLE(nfs_lchown_async, path, (int)uid, (int)gid);
}

int change_size(const char *path, off_t size, struct fuse_file_info *info)
{
    int error = settle_open(info);
    return error ? error : SIMPLE(nfs_truncate_async, path, (uint64_t)size);
}

int change_times(const char *path, const struct timespec times[2], struct fuse_file_info *info)
{
    (void)info;
    struct timeval values[2];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    for (int i = 0; i < 2; i++) {
        const struct timespec *from = times[i].tv_nsec == UTIME_NOW ? &now : &times[i];
        if (times[i].tv_nsec == UTIME_OMIT) {
            struct stat old;
            int result = get_attributes(path, &old, NULL);
            if (result < 0)
                return result;
            values[i] = (struct timeval){i ? old.st_mtim.tv_sec : old.st_atim.tv_sec,
                                         (i ? old.st_mtim.tv_nsec : old.st_atim.tv_nsec) / 1000};
            continue;
        }
        values[i] = (struct timeval){from->tv_sec, from->tv_nsec / 1000};
    }
    return SIMPLE(nfs_utimes_async, path, values);
}

int list_folder(const char *path, void *buffer, fuse_fill_dir_t put, off_t offset, struct fuse_file_info *info,
                       enum fuse_readdir_flags flags)
{
    (void)offset;
    (void)info;
    (void)flags;
    struct connection *c = any();
    struct nfsdir *folder = NULL;
    struct call call = CALL_OF(&folder, 0);
    int result = CALL(c, call, nfs_opendir_async(c->nfs, path, kept, &call));
    if (result < 0)
        return result;
    pthread_mutex_lock(&c->lock);
    for (struct nfsdirent *entry; (entry = nfs_readdir(c->nfs, folder));) {
        struct stat seen = {.st_ino = entry->inode, .st_mode = entry->mode};
        put(buffer, entry->name, &seen, 0, 0);
    }
    nfs_closedir(c->nfs, folder);
    pthread_mutex_unlock(&c->lock);
    return 0;
}

int get_space(const char *path, struct statvfs *to)
{
    struct connection *c = any();
    struct call call = CALL_OF(to, sizeof *to);
    int result = CALL(c, call, nfs_statvfs_async(c->nfs, path, copied, &call));
    return result < 0 ? result : 0;
}
