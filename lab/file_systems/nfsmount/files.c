/* Open files: a handle on each connection, reads in turn over all of them, writes that nobody waits for. */
#define _GNU_SOURCE
#include "files.h"

#include "connections.h"
#include "names.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* An open file: a handle of its own on each connection, opened when it is first used there. */
struct file {
    struct nfsfh *handles[MOST_CONNECTIONS];
    char *path;
    int flags;
    pthread_mutex_t lock;
    pthread_cond_t settled;
    int unanswered; /* writes */
    int error;      /* the first that a write met since the last one told */
    int dirty;
    atomic_uint turn;
    struct file *next; /* in the list of open files */
    int watchers;      /* who must not find it freed */
};

struct write {
    struct file *file;
    struct connection *over;
    size_t size;
    char bytes[];
};

static struct file *open_files;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t unwatched = PTHREAD_COND_INITIALIZER;

/* libnfs calls every refused write a bad address: ask the server whether it is full, and say so if it is. */
static int explain(struct file *file, int error)
{
    if (error != -EFAULT)
        return error;
    struct connection *c = any();
    struct statvfs space;
    struct call call = CALL_OF(&space, sizeof space);
    int result = CALL(c, call, nfs_statvfs_async(c->nfs, file->path, copied, &call));
    /* Some room is left where the last write did not fit whole. */
    return result >= 0 && space.f_bavail * space.f_frsize < CHUNK ? -ENOSPC : -EIO;
}

/* Wait until every write of a file is answered; return the first error since the last time, and forget it. */
static int settle(struct file *file)
{
    pthread_mutex_lock(&file->lock);
    while (file->unanswered)
        pthread_cond_wait(&file->settled, &file->lock);
    int error = file->error;
    file->error = 0;
    pthread_mutex_unlock(&file->lock);
    return error ? explain(file, error) : 0;
}

static void await_answers(struct file *file)
{
    pthread_mutex_lock(&file->lock);
    while (file->unanswered)
        pthread_cond_wait(&file->settled, &file->lock);
    pthread_mutex_unlock(&file->lock);
}

void await_writes(const char *path)
{
    pthread_mutex_lock(&table);
    for (struct file *file = open_files; file; file = file->next) {
        if (strcmp(file->path, path))
            continue;
        file->watchers++;
        pthread_mutex_unlock(&table);
        await_answers(file);
        pthread_mutex_lock(&table);
        if (!--file->watchers)
            pthread_cond_broadcast(&unwatched);
    }
    pthread_mutex_unlock(&table);
}

static struct file *file_of(struct fuse_file_info *info)
{
    return info ? (struct file *)(uintptr_t)info->fh : NULL;
}

/* Return the file's handle on connection `number`, opened there now if need be; NULL with *error set. */
static struct nfsfh *handle_of(struct file *file, unsigned number, int *error)
{
    struct connection *c = &connections[number];
    pthread_mutex_lock(&file->lock);
    struct nfsfh *handle = file->handles[number];
    pthread_mutex_unlock(&file->lock);
    if (handle)
        return handle;
    struct call call = CALL_OF(&handle, 0);
    *error = CALL(c, call, nfs_open_async(c->nfs, file->path, file->flags, kept, &call));
    if (*error < 0)
        return NULL;
    pthread_mutex_lock(&file->lock);
    struct nfsfh *spare = file->handles[number] ? handle : NULL;
    if (!spare)
        file->handles[number] = handle;
    handle = file->handles[number];
    pthread_mutex_unlock(&file->lock);
    if (spare) {
        struct call close = CALL_OF(NULL, 0);
        CALL(c, close, nfs_close_async(c->nfs, spare, copied, &close));
    }
    return handle;
}

int settle_open(struct fuse_file_info *info)
{
    return file_of(info) ? settle(file_of(info)) : 0;
}

/* What the kernel keeps to itself, and the server need not know. */
static int flags_for(int flags)
{
    return flags & (O_ACCMODE | O_TRUNC | O_SYNC);
}

static int keep(const char *path, int flags, struct nfsfh *handle, unsigned number, struct fuse_file_info *info)
{
    struct file *file = calloc(1, sizeof *file);
    if (!file || !(file->path = strdup(path)))
        return -ENOMEM;
    file->handles[number] = handle;
    file->flags = flags_for(flags) & ~O_TRUNC;
    pthread_mutex_init(&file->lock, NULL);
    pthread_cond_init(&file->settled, NULL);
    info->fh = (uintptr_t)file;
    pthread_mutex_lock(&table);
    file->next = open_files;
    open_files = file;
    pthread_mutex_unlock(&table);
    /* As with O_DIRECT anywhere: no copy in this machine's memory. */
    info->direct_io = (flags & O_DIRECT) != 0;
    return 0;
}

int open_file(const char *path, struct fuse_file_info *info)
{
    struct connection *c = any();
    struct nfsfh *handle = NULL;
    struct call call = CALL_OF(&handle, 0);
    int result = CALL(c, call, nfs_open_async(c->nfs, path, flags_for(info->flags), kept, &call));
    return result < 0 ? result : keep(path, info->flags, handle, (unsigned)(c - connections), info);
}

int create_file(const char *path, mode_t mode, struct fuse_file_info *info)
{
    struct connection *c = any();
    struct nfsfh *handle = NULL;
    struct call call = CALL_OF(&handle, 0);
    int flags = flags_for(info->flags) | O_CREAT | (info->flags & O_EXCL);
    int result = CALL(c, call, nfs_open2_async(c->nfs, path, flags, (int)mode, kept, &call));
    if (result >= 0)
        result = keep(path, info->flags, handle, (unsigned)(c - connections), info);
    return result < 0 ? result : give_to_caller(path);
}

int read_file(const char *path, char *into, size_t size, off_t offset, struct fuse_file_info *info)
{
    (void)path;
    struct file *file = file_of(info);
    unsigned number = atomic_fetch_add(&file->turn, 1) % count;
    int error = settle(file);
    if (error)
        return error;
    struct nfsfh *handle = handle_of(file, number, &error);
    if (!handle)
        return error;
    struct connection *c = &connections[number];
    struct call call = CALL_OF(into, size);
    return CALL(c, call, nfs_pread_async(c->nfs, handle, (uint64_t)offset, size, read_back, &call));
}

static void written(int result, struct nfs_context *nfs, void *data, void *private)
{
    struct write *write = private;
    struct file *file = write->file;
    (void)nfs;
    (void)data;
    give_slot(write->over);
    pthread_mutex_lock(&file->lock);
    if (result != (int)write->size && !file->error)
        file->error = result < 0 ? result : -EIO;
    if (!--file->unanswered)
        pthread_cond_broadcast(&file->settled);
    pthread_mutex_unlock(&file->lock);
    free(write);
}

int write_file(const char *path, const char *from, size_t size, off_t offset, struct fuse_file_info *info)
{
    (void)path;
    struct file *file = file_of(info);
    unsigned number = atomic_fetch_add(&file->turn, 1) % count;
    int error = 0;
    struct nfsfh *handle = handle_of(file, number, &error);
    struct write *write = handle ? malloc(sizeof *write + size) : NULL;
    if (!write)
        return handle ? -ENOMEM : error;
    struct connection *c = &connections[number];
    *write = (struct write){.file = file, .over = c, .size = size};
    memcpy(write->bytes, from, size);
    pthread_mutex_lock(&file->lock);
    error = file->error;
    file->unanswered++;
    file->dirty = 1;
    pthread_mutex_unlock(&file->lock);
    pthread_mutex_lock(&c->lock);
    take_slot(c);
    if (nfs_pwrite_async(c->nfs, handle, (uint64_t)offset, size, write->bytes, written, write))
        written(-EIO, NULL, NULL, write);
    pthread_mutex_unlock(&c->lock);
    wake(c);
    if (error || info->flags & (O_SYNC | O_DSYNC)) {
        int met = settle(file);
        return met ? met : error ? error : (int)size;
    }
    return (int)size;
}

/* Wait for all writes and have the server commit them to its disk. */
static int commit(struct file *file)
{
    int error = settle(file);
    pthread_mutex_lock(&file->lock);
    int dirty = file->dirty;
    file->dirty = 0;
    pthread_mutex_unlock(&file->lock);
    for (unsigned i = 0; dirty && !error && i < count; i++) {
        if (!file->handles[i])
            continue;
        struct connection *c = &connections[i];
        struct call call = CALL_OF(NULL, 0);
        error = CALL(c, call, nfs_fsync_async(c->nfs, file->handles[i], copied, &call));
        /* A commit covers the whole file, whichever connection its writes came over. */
        break;
    }
    return error < 0 ? error : 0;
}

int flush_file(const char *path, struct fuse_file_info *info)
{
    (void)path;
    return commit(file_of(info));
}

int sync_file(const char *path, int only_data, struct fuse_file_info *info)
{
    (void)path;
    (void)only_data;
    return commit(file_of(info));
}

int release_file(const char *path, struct fuse_file_info *info)
{
    (void)path;
    struct file *file = file_of(info);
    settle(file);
    for (unsigned i = 0; i < count; i++) {
        if (!file->handles[i])
            continue;
        struct connection *c = &connections[i];
        struct call call = CALL_OF(NULL, 0);
        CALL(c, call, nfs_close_async(c->nfs, file->handles[i], copied, &call));
    }
    pthread_mutex_lock(&table);
    /* A watcher goes on to the next in the list, so the file stays in it until the watcher has gone. */
    while (file->watchers)
        pthread_cond_wait(&unwatched, &table);
    struct file **link = &open_files;
    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    pthread_mutex_unlock(&table);
    free(file->path);
    free(file);
    return 0;
}
