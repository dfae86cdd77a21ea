/* The TCP connections to the server, and calls over them that wait for their answer. */
#ifndef CONNECTIONS_H
#define CONNECTIONS_H
#include <errno.h>
#include <nfsc/libnfs.h>
#include <pthread.h>
#include <stddef.h>

#define MOST_CONNECTIONS 16
/* What one request of FUSE carries at most, and one of NFS here. */
#define CHUNK (1 << 20)

/* One TCP connection with a thread that serves it; libnfs wants one caller at a time, hence the lock. */
struct connection {
    struct nfs_context *nfs;
    pthread_mutex_t lock;
    pthread_t thread;
    pthread_cond_t slot_free;
    int wake;
    int under_way;
};

/* A call and what became of it: `result` is libnfs's, negative for an error number. */
struct call {
    pthread_mutex_t lock;
    pthread_cond_t over;
    int done;
    int result;
    void *into;
    size_t size;
};

extern struct connection connections[MOST_CONNECTIONS];
extern unsigned count, slots;

/* Join the server over one connection more; ends the program with a word if that fails. */
void join(const char *source);
/* Start the threads that serve the connections. */
void serve_all(void);
/* Have a connection's thread look again at what there is to send. */
void wake(struct connection *c);
/* Return the connection whose turn it is. */
struct connection *any(void);

/* With the connection's lock held: wait for one of its slots, and give it back. */
void take_slot(struct connection *c);
void give_slot(struct connection *c);

/* What libnfs calls at a call's end: each keeps what it gives back in another way. */
void copied(int result, struct nfs_context *nfs, void *data, void *private);
void kept(int result, struct nfs_context *nfs, void *data, void *private);
void told(int result, struct nfs_context *nfs, void *data, void *private);
void read_back(int result, struct nfs_context *nfs, void *data, void *private);

/* Make a call on connection `c` and wait for its result; `START` is libnfs's function with its arguments. */
#define CALL(c, call, START)                                                                                           \
    ({                                                                                                                 \
        pthread_mutex_lock(&(c)->lock);                                                                                \
        take_slot(c);                                                                                                  \
        int refused = (START);                                                                                         \
        if (refused)                                                                                                   \
            give_slot(c);                                                                                              \
        pthread_mutex_unlock(&(c)->lock);                                                                              \
        if (!refused) {                                                                                                \
            wake(c);                                                                                                   \
            pthread_mutex_lock(&(call).lock);                                                                          \
            while (!(call).done)                                                                                       \
                pthread_cond_wait(&(call).over, &(call).lock);                                                         \
            pthread_mutex_unlock(&(call).lock);                                                                        \
            pthread_mutex_lock(&(c)->lock);                                                                            \
            give_slot(c);                                                                                              \
            pthread_mutex_unlock(&(c)->lock);                                                                          \
        }                                                                                                              \
        refused ? -EIO : (call).result;                                                                                \
    })
#define CALL_OF(TARGET, SIZE)                                                                                          \
    {                                                                                                                  \
        .lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER, .into = (TARGET), .size = (SIZE)          \
    }

/* Most calls that change something: libnfs's function, its arguments, and no answer but success or an error. */
#define SIMPLE(FUNCTION, ...)                                                                                          \
    ({                                                                                                                 \
        struct connection *c = any();                                                                                  \
        struct call call = CALL_OF(NULL, 0);                                                                           \
        int result = CALL(c, call, FUNCTION(c->nfs, __VA_ARGS__, copied, &call));                                      \
        result < 0 ? result : 0;                                                                                       \
    })

#endif
