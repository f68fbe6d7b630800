import Streams

/// When bytes were received, and in which packet.
package struct Arrival: Hashable, Sendable {
    /// When they were seen.
    package let time: Timestamp
    /// The number of the packet that carried them, from 1; 0 if there are no packets.
    package let packet: Int

    /// When bytes were received; the default is for receivers that do not ask.
    package init(at time: Timestamp = Timestamp(nanoseconds: 0), packet: Int = 0) {
        (self.time, self.packet) = (time, packet)
    }
}
