// Needs CONTROL (http://host:port) and TOKEN of a proxy with --control and --format line, and SERVER (host:port), which must return each line.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *call(const char *arguments) {
  static char command[1000], answer[10000];
  snprintf(command, sizeof command, "curl -sS -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' $CONTROL/api/v1/listeners%s", arguments);
  FILE *pipe = popen(command, "r");
  answer[fread(answer, 1, sizeof answer - 1, pipe)] = 0;
  return pclose(pipe) == 0 ? answer : NULL;
}

int main(void) {
  char *proxy = call(" -d '{\"name\":\"c\",\"to\":\"'$SERVER'\",\"format\":\"line\",\"rules\":[\"drop: body.text == \\\"two\\\"; once: true\"]}'");
  assert(proxy && setenv("PORT", strstr(proxy, "\"listen\":\"127.0.0.1:") + 20, 1) == 0);
  assert(system("printf 'one\\ntwo\\nthree\\n' | timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/${PORT%%\\\"*}; cat >&3; head -n 2 <&3'") == 0);
  assert(strstr(call("/c/wait -G --data-urlencode 'when=from == \"server\" and body.text == \"three\"'"), "\"index\":1,"));
}
