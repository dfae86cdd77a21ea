/* A long link in user space: two TUN devices, and between them, in each direction, a drop-tail queue served at a given
 * rate, then a constant delay, with random loss if wanted. It stands in for the netem qdisc, which many kernels lack.
 *
 *   forwarder IFA IFB RATE_MBIT DELAY_US QUEUE_BYTES LOSS SEED OVERHEAD PARENT
 *
 * IFA and IFB are created in the caller's network namespace; the caller moves them to where they belong. DELAY_US is one
 * way. LOSS is a probability. OVERHEAD is added to each packet's length on the line: 38 bytes for Ethernet (14 header,
 * 4 checksum, 8 preamble, 12 gap). PARENT is the process to die with, or 0. It prints a line when it is ready and a line
 * per direction at its end (SIGTERM or SIGINT). forwarder.py behaves alike, and loses the same packets for one SEED.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/if.h>
#include <linux/if_tun.h>

#define USAGE "usage: forwarder IFA IFB RATE_MBIT DELAY_US QUEUE_BYTES LOSS SEED OVERHEAD PARENT\n"
#define MAX_PACKET 65536
#define BATCH 64
#define SECOND 1000000000ull
#define IDLE (SECOND / 10)
#define WRAP UINT32_MAX

/* A packet in the ring: its header, then its bytes, padded to 16. `length` WRAP means: go on at the ring's start. */
struct packet {
    uint64_t due;
    uint32_t length;
    uint32_t unused;
};

struct direction {
    const char *name;
    int in, out;
    double ns_per_byte, loss;
    uint64_t delay, queue, overhead;
    unsigned short dice[3]; /* the state of erand48 */
    unsigned char *ring;
    size_t size, head, tail; /* written at head, read at tail; empty when they are equal */
    uint64_t line_free;      /* when the last byte of what is queued will have left the line */
    uint64_t packets, bytes, tail_drops, losses, longest_queue;
};

static volatile sig_atomic_t stopped = 0;

static void stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

static void fail(int status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fprintf(stderr, "forwarder: ");
    vfprintf(stderr, format, values);
    fprintf(stderr, "\n");
    exit(status);
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static int open_tun(const char *name)
{
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        fail(1, "/dev/net/tun: %s", strerror(errno));
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    if (ioctl(fd, TUNSETIFF, &request) < 0)
        fail(1, "%s: %s", name, strerror(errno));
    return fd;
}

static size_t space_of(uint32_t length)
{
    return (sizeof(struct packet) + length + 15) & ~(size_t)15;
}

/* Return the packet that is due next, or NULL. */
static struct packet *next_packet(struct direction *d)
{
    if (d->tail != d->head && ((struct packet *)(d->ring + d->tail))->length == WRAP)
        d->tail = 0;
    return d->tail == d->head ? NULL : (struct packet *)(d->ring + d->tail);
}

/* Return where a packet of this length may be stored, or NULL when the ring is full; there is always room for a WRAP. */
static struct packet *reserve(struct direction *d, uint32_t length)
{
    size_t space = space_of(length);
    if (d->head >= d->tail && d->head + space + sizeof(struct packet) > d->size) {
        if (space >= d->tail)
            return NULL;
        ((struct packet *)(d->ring + d->head))->length = WRAP;
        d->head = 0;
    } else if (d->head < d->tail && d->head + space >= d->tail) {
        return NULL;
    }
    return (struct packet *)(d->ring + d->head);
}

static void send_due(struct direction *d)
{
    uint64_t moment = now();
    for (struct packet *p; (p = next_packet(d)) && p->due <= moment; d->tail += space_of(p->length)) {
        /* A device that is down or being moved loses the packet, as an unplugged line would. */
        if (write(d->out, p + 1, p->length) < 0)
            continue;
        d->packets++;
        d->bytes += p->length;
    }
}

static void queue_packet(struct direction *d, const unsigned char *bytes, uint32_t length)
{
    if (d->loss > 0 && erand48(d->dice) < d->loss) {
        d->losses++;
        return;
    }
    uint64_t moment = now();
    if (d->line_free < moment)
        d->line_free = moment;
    uint64_t backlog = (uint64_t)((d->line_free - moment) / d->ns_per_byte);
    if (backlog > d->longest_queue)
        d->longest_queue = backlog;
    struct packet *p = backlog + length > d->queue ? NULL : reserve(d, length);
    if (!p) {
        d->tail_drops++;
        return;
    }
    d->line_free += (uint64_t)((length + d->overhead) * d->ns_per_byte);
    p->due = d->line_free + d->delay;
    p->length = length;
    memcpy(p + 1, bytes, length);
    d->head += space_of(length);
}

static int take_in(struct direction *d)
{
    unsigned char buffer[MAX_PACKET];
    int taken = 0;
    ssize_t length = 0;
    for (; taken < BATCH && (length = read(d->in, buffer, sizeof buffer)) > 0; taken++)
        queue_packet(d, buffer, (uint32_t)length);
    /* The device is gone, and with it the link: there is nothing to wait for, and poll would not wait. */
    if (length < 0 && errno == EBADFD)
        stopped = 1;
    return taken;
}

/* Sleep until a packet comes in or one is due. */
static void wait_for_work(struct direction *d)
{
    struct packet *p = next_packet(d);
    uint64_t moment = now(), pause = IDLE;
    if (p)
        pause = p->due > moment ? p->due - moment : 0;
    if (pause > IDLE)
        pause = IDLE;
    struct timespec timeout = {.tv_sec = 0, .tv_nsec = (long)pause};
    struct pollfd input = {.fd = d->in, .events = POLLIN};
    ppoll(&input, 1, &timeout, NULL);
}

static void *carry(void *argument)
{
    struct direction *d = argument;
    prctl(PR_SET_TIMERSLACK, 1ul, 0, 0, 0); /* the default of 50 us would show in the RTT */
    while (!stopped) {
        send_due(d);
        if (take_in(d) == 0)
            wait_for_work(d);
    }
    return NULL;
}

static double number(const char *name, const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most))
        fail(2, "%s must be a number from %g to %g, not '%s'", name, least, most, text);
    return value;
}

static void leash_to(pid_t parent)
{
    if (!parent)
        return;
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    if (getppid() != parent)
        fail(1, "the process %d that it should die with is not its parent", parent);
}

int main(int count, char **argument)
{
    if (count != 10) {
        fputs(USAGE, stderr);
        return 2;
    }
    double rate = number("RATE_MBIT", argument[3], 0.001, 1e6) * 1e6;
    double delay = number("DELAY_US", argument[4], 0, 1e7);
    double queue = number("QUEUE_BYTES", argument[5], 1, 1e9);
    double loss = number("LOSS", argument[6], 0, 1);
    double seed = number("SEED", argument[7], 0, 65535);
    double overhead = number("OVERHEAD", argument[8], 0, 1000);
    leash_to((pid_t)number("PARENT", argument[9], 0, 1e9));

    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);

    int a = open_tun(argument[1]), b = open_tun(argument[2]);
    struct direction directions[2] = {{.name = "A->B", .in = a, .out = b}, {.name = "B->A", .in = b, .out = a}};
    for (int i = 0; i < 2; i++) {
        struct direction *d = &directions[i];
        d->ns_per_byte = 8e9 / rate;
        d->delay = (uint64_t)(delay * 1000);
        d->queue = (uint64_t)queue;
        d->loss = loss;
        d->overhead = (uint64_t)overhead;
        d->dice[0] = (unsigned short)seed;
        d->dice[1] = (unsigned short)i;
        d->dice[2] = 7;
        /* What the queue and the line hold at most, twice, for the headers that small packets take. */
        d->size = 2 * (size_t)(queue + rate / 8e6 * delay) + 16 * MAX_PACKET;
        d->ring = malloc(d->size);
        if (!d->ring)
            fail(1, "no memory for a queue of %zu bytes", d->size);
    }
    printf("ready: process %d, %g Mbit/s, %g us one way, queue %g B, loss %g\n", getpid(), rate / 1e6, delay, queue, loss);
    fflush(stdout);

    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, carry, &directions[i]))
            fail(1, "no thread to be had");
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        struct direction *d = &directions[i];
        printf("%s: %lu packets, %lu bytes, %lu dropped from a full queue, %lu lost at random, longest queue %lu B\n",
               d->name, d->packets, d->bytes, d->tail_drops, d->losses, d->longest_queue);
    }
    return 0;
}
