// Reads the packets of a capture with libpcap, and does nothing with them: what decoding is measured against.
// packet_loop FILE; prints how many packets and bytes there were.
#include <pcap/pcap.h>
#include <stdio.h>

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: packet_loop FILE\n");
        return 64;
    }
    char message[PCAP_ERRBUF_SIZE];
    pcap_t *capture = pcap_open_offline(arguments[1], message);
    if (!capture) {
        fprintf(stderr, "packet_loop: %s\n", message);
        return 2;
    }
    struct pcap_pkthdr *header;
    const unsigned char *bytes;
    unsigned long packets = 0, size = 0, touched = 0;
    while (pcap_next_ex(capture, &header, &bytes) == 1) {
        packets++;
        size += header->caplen;
        // One byte is looked at, so that the packet has to be there.
        touched += bytes[header->caplen / 2];
    }
    printf("%lu packets, %lu bytes (%lx)\n", packets, size, touched);
    pcap_close(capture);
    return 0;
}
