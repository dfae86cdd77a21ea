/* Loaded before a program: its wall clock is then the system's, moved by what a file says (s). Made by server_clock.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long *moved;
static int is_open;
static int (*real)(clockid_t, struct timespec *);

static long by(void) {
    if (!is_open) {
        is_open = 1;
        const char *name = getenv("FATHOM_MOVED_CLOCK");
        int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
        if (file >= 0) {
            void *memory = mmap(0, sizeof *moved, PROT_READ, MAP_SHARED, file, 0);
            close(file);
            if (memory != MAP_FAILED) moved = memory;
        }
    }
    return moved ? *moved : 0;
}

int clock_gettime(clockid_t kind, struct timespec *at) {
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(kind, at);
    if (!failed && (kind == CLOCK_REALTIME || kind == CLOCK_REALTIME_COARSE)) at->tv_sec += by();
    return failed;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) at->tv_sec = now.tv_sec, at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *at, int base) {
    clock_gettime(CLOCK_REALTIME, at);
    return base;
}
