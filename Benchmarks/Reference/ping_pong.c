// The two ends of the proxy's measurements, both on 127.0.0.1:
//   ping_pong server PORT                           sends back what it gets; prints "ready" once it listens
//   ping_pong client PORT CONNECTIONS MESSAGES      sends a 64-byte len16-id frame on each connection, waits for it to come back,
//                                                   and again, MESSAGES times on each; prints messages a second, and the median and
//                                                   the 99th percentile of the time until one is back, in microseconds
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 64, EVENTS = 256, PATIENCE = 10000 /* ms */ };

static void fail(const char *what) {
    fprintf(stderr, "ping_pong: ");
    perror(what);
    exit(2);
}

static int checked(int result, const char *what) {
    if (result < 0) fail(what);
    return result;
}

static struct sockaddr_in address(const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void watch(int poll, int descriptor, uint32_t value) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = value};
    checked(epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
}

static void send_at_once(int descriptor) {
    int one = 1;
    checked(setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one), "TCP_NODELAY");
}

static void put(int descriptor, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(descriptor, bytes, count);
        if (written <= 0) fail("write");
        bytes += written;
        count -= (size_t)written;
    }
}

static void serve(const char *port) {
    struct sockaddr_in own = address(port);
    int one = 1, listener = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
    checked(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one), "SO_REUSEADDR");
    checked(bind(listener, (struct sockaddr *)&own, sizeof own), "bind");
    checked(listen(listener, 4096), "listen");
    int poll = checked(epoll_create1(0), "epoll_create1");
    watch(poll, listener, (uint32_t)listener);
    puts("ready");
    fflush(stdout);
    static char bytes[1 << 16];
    struct epoll_event events[EVENTS];
    for (;;) {
        int count = checked(epoll_wait(poll, events, EVENTS, -1), "epoll_wait");
        for (int i = 0; i < count; i++) {
            int descriptor = (int)events[i].data.u32;
            if (descriptor == listener) {
                int client = checked(accept(listener, NULL, NULL), "accept");
                send_at_once(client);
                watch(poll, client, (uint32_t)client);
                continue;
            }
            ssize_t size = read(descriptor, bytes, sizeof bytes);
            if (size > 0) put(descriptor, bytes, (size_t)size);
            else close(descriptor);
        }
    }
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct talk {
    int descriptor;
    long left;
    size_t received;
    double sent;
};

static int by_length(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return difference < 0 ? -1 : difference > 0;
}

static void ask(const char *port, int connections, long messages) {
    struct sockaddr_in server = address(port);
    // Two bytes of length, two of id, a flag, and a letter again and again.
    char message[MESSAGE] = {0, MESSAGE - 2, 0, 3, 0};
    memset(message + 5, 'x', MESSAGE - 5);
    int poll = checked(epoll_create1(0), "epoll_create1");
    struct talk *talks = calloc((size_t)connections, sizeof *talks);
    double *round_trips = calloc((size_t)(connections * messages), sizeof *round_trips);
    if (!talks || !round_trips) fail("calloc");
    for (int i = 0; i < connections; i++) {
        talks[i].descriptor = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
        talks[i].left = messages;
        checked(connect(talks[i].descriptor, (struct sockaddr *)&server, sizeof server), "connect");
        send_at_once(talks[i].descriptor);
        watch(poll, talks[i].descriptor, (uint32_t)i);
    }
    double start = seconds();
    for (int i = 0; i < connections; i++) {
        talks[i].sent = seconds();
        put(talks[i].descriptor, message, MESSAGE);
    }
    struct epoll_event events[EVENTS];
    char bytes[MESSAGE];
    long all = connections * messages;
    for (long left = all; left > 0;) {
        int count = checked(epoll_wait(poll, events, EVENTS, PATIENCE), "epoll_wait");
        if (count == 0) {
            fprintf(stderr, "ping_pong: nothing came for %d s, %ld messages are missing\n", PATIENCE / 1000, left);
            exit(2);
        }
        for (int i = 0; i < count; i++) {
            struct talk *talk = &talks[events[i].data.u32];
            ssize_t size = read(talk->descriptor, bytes, MESSAGE - talk->received);
            if (size <= 0) fail("read");
            talk->received += (size_t)size;
            if (talk->received < MESSAGE) continue;
            talk->received = 0;
            double now = seconds();
            round_trips[all - left--] = now - talk->sent;
            talk->sent = now;
            if (--talk->left > 0) put(talk->descriptor, message, MESSAGE);
        }
    }
    double rate = (double)all / (seconds() - start);
    qsort(round_trips, (size_t)all, sizeof *round_trips, by_length);
    printf("%.0f %.1f %.1f\n", rate, 1e6 * round_trips[all / 2], 1e6 * round_trips[all * 99 / 100]);
}

int main(int count, char **arguments) {
    // As many descriptors as may be had: the measurement of idle connections has thousands.
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (count == 3 && !strcmp(arguments[1], "server")) serve(arguments[2]);
    else if (count == 5 && !strcmp(arguments[1], "client")) ask(arguments[2], atoi(arguments[3]), atol(arguments[4]));
    else {
        fprintf(stderr, "usage: ping_pong server PORT | ping_pong client PORT CONNECTIONS MESSAGES\n");
        return 64;
    }
    return 0;
}
