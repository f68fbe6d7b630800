// libyaml, as the system has it.
#include <yaml.h>
