// libpcap, as the system has it.
#include <pcap/pcap.h>
