// zstd, as the system has it.
#include <zstd.h>
#include <zstd_errors.h>
