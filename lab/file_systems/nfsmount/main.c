/* An NFS export as a mounted file system, for kernels that have no NFS client: FUSE on one side, libnfs on the other.
 *
 *   nfsmount nfs://SERVER/PATH MOUNTPOINT CONNECTIONS SLOTS
 *
 * It stays in the foreground until it is unmounted or gets SIGTERM. Like a kernel's client, it keeps up to SLOTS requests
 * under way on each of its TCP connections, answers a write before the server has (close and fsync wait for all of a
 * file's writes and have the server commit them, and report what went wrong), and looks again at a file that is opened.
 * Files belong to the user who makes them; the server must not squash root.
 */
#define _GNU_SOURCE
#include "connections.h"
#include "files.h"
#include "names.h"

#include <stdio.h>
#include <stdlib.h>

static void *begin(struct fuse_conn_info *kernel, struct fuse_config *config)
{
    kernel->max_write = CHUNK;
    kernel->max_background = slots * count;
    kernel->want |= kernel->capable & (FUSE_CAP_ASYNC_READ | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_ASYNC_DIO);
    config->use_ino = 1;
    config->attr_timeout = config->entry_timeout = 1;
    config->nullpath_ok = 0;
    /* Threads cannot be made before FUSE is done with its own forking. */
    serve_all();
    return NULL;
}

static const struct fuse_operations operations = {
    .init = begin,           .getattr = get_attributes, .readlink = read_link,   .mkdir = make_folder,
    .unlink = remove_file,   .rmdir = remove_folder,    .symlink = make_symlink, .rename = rename_file,
    .link = link_file,       .chmod = change_mode,      .chown = change_owner,   .truncate = change_size,
    .utimens = change_times, .open = open_file,         .create = create_file,   .read = read_file,
    .write = write_file,     .flush = flush_file,       .fsync = sync_file,      .release = release_file,
    .readdir = list_folder,  .statfs = get_space,
};

int main(int argc, char *argv[])
{
    if (argc != 5) {
        fprintf(stderr, "usage: nfsmount nfs://SERVER/PATH MOUNTPOINT CONNECTIONS SLOTS\n");
        return 2;
    }
    int wanted = atoi(argv[3]);
    slots = (unsigned)atoi(argv[4]);
    if (wanted < 1 || wanted > MOST_CONNECTIONS || slots < 1 || slots > 1024) {
        fprintf(stderr, "nfsmount: CONNECTIONS is 1 to %d, SLOTS 1 to 1024\n", MOST_CONNECTIONS);
        return 2;
    }
    while (count < (unsigned)wanted)
        join(argv[1]);
    char options[256];
    snprintf(options, sizeof options, "allow_other,default_permissions,subtype=nfs,fsname=%.200s", argv[1]);
    char *words[] = {argv[0], "-f", "-o", options, argv[2], NULL};
    return fuse_main(5, words, &operations, NULL);
}
