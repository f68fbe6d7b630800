// What a program lacks that is linked against an older C library, and libpcap without D-Bus.

// libpcap asks each kind of device whether a name is one of its. Nobody captures D-Bus with frametap, and libdbus is not on every
// system.
struct pcap;

struct pcap *dbus_create(const char *device, char *error, int *is_ours) {
    (void)device;
    (void)error;
    *is_ours = 0;
    return 0;
}

int dbus_findalldevs(void *devices, char *error) {
    (void)devices;
    (void)error;
    return 0;
}

// libstdc++ reads it to do without atomic operations where there is one thread; glibc has it since 2.32. 0: there may be several.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;
