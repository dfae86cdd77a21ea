/* The TCP connections to the server: a thread for each sends what is to be sent and reads what comes. */
#define _GNU_SOURCE
#include "connections.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct connection connections[MOST_CONNECTIONS];
unsigned count, slots;
static atomic_uint turn;

void wake(struct connection *c)
{
    uint64_t one = 1;
    if (write(c->wake, &one, sizeof one) < 0)
        perror("nfsmount: eventfd");
}

/* Serve one connection for ever: what libnfs has to send and to read. */
static void *serve(void *argument)
{
    struct connection *c = argument;
    for (;;) {
        pthread_mutex_lock(&c->lock);
        struct pollfd fds[2] = {{.fd = nfs_get_fd(c->nfs), .events = nfs_which_events(c->nfs)},
                                {.fd = c->wake, .events = POLLIN}};
        pthread_mutex_unlock(&c->lock);
        /* A second at most, so that libnfs sees its time-outs. */
        if (poll(fds, 2, 1000) < 0 && errno != EINTR) {
            perror("nfsmount: poll");
            exit(1);
        }
        if (fds[1].revents) {
            uint64_t number;
            if (read(c->wake, &number, sizeof number) < 0)
                continue;
        }
        pthread_mutex_lock(&c->lock);
        if (nfs_service(c->nfs, fds[0].revents) < 0) {
            fprintf(stderr, "nfsmount: the connection is lost: %s\n", nfs_get_error(c->nfs));
            exit(1);
        }
        pthread_mutex_unlock(&c->lock);
    }
    return NULL;
}

struct connection *any(void)
{
    return &connections[atomic_fetch_add(&turn, 1) % count];
}

static void finish(struct call *call, int result)
{
    pthread_mutex_lock(&call->lock);
    call->result = result;
    call->done = 1;
    pthread_cond_signal(&call->over);
    pthread_mutex_unlock(&call->lock);
}

/* What libnfs gives back lives no longer than its callback: copy `size` bytes of it. */
void copied(int result, struct nfs_context *nfs, void *data, void *private)
{
    struct call *call = private;
    (void)nfs;
    if (result >= 0 && call->into && data)
        memcpy(call->into, data, call->size);
    finish(call, result);
}

void kept(int result, struct nfs_context *nfs, void *data, void *private)
{
    struct call *call = private;
    (void)nfs;
    if (result >= 0)
        *(void **)call->into = data;
    finish(call, result);
}

void told(int result, struct nfs_context *nfs, void *data, void *private)
{
    struct call *call = private;
    (void)nfs;
    if (result >= 0 && data)
        snprintf(call->into, call->size, "%s", (char *)data);
    finish(call, result);
}

void read_back(int result, struct nfs_context *nfs, void *data, void *private)
{
    struct call *call = private;
    (void)nfs;
    if (result > 0)
        memcpy(call->into, data, (size_t)result < call->size ? (size_t)result : call->size);
    finish(call, result);
}

void take_slot(struct connection *c)
{
    while (c->under_way >= (int)slots)
        pthread_cond_wait(&c->slot_free, &c->lock);
    c->under_way++;
}

void give_slot(struct connection *c)
{
    c->under_way--;
    pthread_cond_signal(&c->slot_free);
}

void join(const char *source)
{
    struct connection *c = &connections[count];
    c->nfs = nfs_init_context();
    struct nfs_url *url = c->nfs ? nfs_parse_url_dir(c->nfs, source) : NULL;
    if (!url) {
        fprintf(stderr, "nfsmount: %s is no nfs://SERVER/PATH\n", source);
        exit(2);
    }
    if (nfs_mount(c->nfs, url->server, url->path)) {
        fprintf(stderr, "nfsmount: %s cannot be mounted: %s\n", source, nfs_get_error(c->nfs));
        exit(1);
    }
    nfs_destroy_url(url);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->slot_free, NULL);
    c->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    count++;
}

void serve_all(void)
{
    for (unsigned i = 0; i < count; i++)
        pthread_create(&connections[i].thread, NULL, serve, &connections[i]);
}
