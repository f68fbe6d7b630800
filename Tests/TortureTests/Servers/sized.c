/* A server of frames with a length: two bytes of length, one byte of kind, the body. It returns each frame with its kind
   plus 16. Its argument is the error to make, or `none`; prints its port. */

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *bug;

static int makes(const char *name) { return strcmp(bug, name) == 0; }

static int read_exactly(int sock, unsigned char *to, int count) {
  for (int done = 0; done < count;) {
    int part = read(sock, to + done, count - done);
    if (part <= 0) return 0;
    done += part;
  }
  return 1;
}

static void answer(int sock, unsigned char *frame) {
  int size = frame[0] << 8 | frame[1];
  frame[2] += 16;
  if (write(sock, frame, 3 + size) < 0) perror("write");
}

/* Reads field by field; the length by one read. */
static void serve_fields(int sock) {
  unsigned char frame[3 + 65535] = {0};
  while (read(sock, frame, 2) > 0 && read_exactly(sock, frame + 2, 1)) {
    if (!read_exactly(sock, frame + 3, frame[0] << 8 | frame[1])) break;
    answer(sock, frame);
  }
}

/* Reads what is there, and answers the frames in it. */
static void serve_buffer(int sock) {
  static __thread unsigned char buffer[1 << 18];
  int filled = 0, part;
  while (filled < (int)sizeof buffer && (part = read(sock, buffer + filled, sizeof buffer - filled)) > 0) {
    int start = 0;
    filled += part;
    while (filled - start >= 3) {
      int size = 3 + (buffer[start] << 8 | buffer[start + 1]);
      if (filled - start < size) break;
      answer(sock, buffer + start);
      start += size;
      if (makes("second-late")) break;
    }
    memmove(buffer, buffer + start, filled - start);
    filled -= start;
    if (makes("rest-lost") && start > 0) filled = 0;
  }
}

static void *serve(void *argument) {
  int sock = (int)(long)argument;
  if (makes("length-split")) serve_fields(sock);
  else serve_buffer(sock);
  close(sock);
  return NULL;
}

int main(int count, char **arguments) {
  bug = count > 1 ? arguments[1] : "none";
  signal(SIGPIPE, SIG_IGN);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 64)) return 1;
  getsockname(listener, (struct sockaddr *)&address, &length);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    pthread_t thread;
    int sock = accept(listener, NULL, NULL);
    pthread_create(&thread, NULL, serve, (void *)(long)sock);
    pthread_detach(thread);
  }
}
