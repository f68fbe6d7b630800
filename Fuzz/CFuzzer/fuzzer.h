// libFuzzer's entry point for programs that have a main of their own (llvm.org/docs/LibFuzzer.html).
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*target)(const uint8_t *data, size_t size));
