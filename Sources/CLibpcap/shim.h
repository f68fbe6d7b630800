// libpcap, as the system has it: its header, and its functions once it is loaded.
//
// Most commands do not need it, and on Debian seven other libraries come with it. A program that is linked with it has the functions
// already (packaging/link.py).
#include <dlfcn.h>
#include <pcap/pcap.h>

// The functions that frametap calls, without their prefix.
#define FRAMETAP_PCAP(FUNCTION) \
    FUNCTION(activate) \
    FUNCTION(close) \
    FUNCTION(compile) \
    FUNCTION(create) \
    FUNCTION(datalink) \
    FUNCTION(findalldevs) \
    FUNCTION(freealldevs) \
    FUNCTION(freecode) \
    FUNCTION(get_selectable_fd) \
    FUNCTION(get_tstamp_precision) \
    FUNCTION(geterr) \
    FUNCTION(lib_version) \
    FUNCTION(next_ex) \
    FUNCTION(set_buffer_size) \
    FUNCTION(set_promisc) \
    FUNCTION(set_snaplen) \
    FUNCTION(set_timeout) \
    FUNCTION(set_tstamp_precision) \
    FUNCTION(setfilter) \
    FUNCTION(setnonblock) \
    FUNCTION(stats) \
    FUNCTION(statustostr)

#ifndef __APPLE__
#define FRAMETAP_PCAP_WEAK(name) extern __typeof__(pcap_##name) pcap_##name __attribute__((weak));
FRAMETAP_PCAP(FRAMETAP_PCAP_WEAK)
#endif

#define FRAMETAP_PCAP_MEMBER(name) __typeof__(pcap_##name) *_Nonnull name;
struct pcap_functions {
    FRAMETAP_PCAP(FRAMETAP_PCAP_MEMBER)
};

// Whether the program was linked with libpcap.
static inline int pcap_functions_are_linked(void) { return pcap_create != 0; }

// Finds the functions in a library, or, without one, in the program. Returns the name of one that is not there, or NULL.
static inline const char *_Nullable pcap_functions_find(struct pcap_functions *_Nonnull found, void *_Nullable library) {
    void *function;
#define FRAMETAP_PCAP_FIND(name) \
    function = library ? dlsym(library, "pcap_" #name) : (void *)pcap_##name; \
    if (!function) return "pcap_" #name; \
    found->name = (__typeof__(pcap_##name) *)function;
    FRAMETAP_PCAP(FRAMETAP_PCAP_FIND)
    return 0;
}
