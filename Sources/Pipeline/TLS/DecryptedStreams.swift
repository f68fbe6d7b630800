import Streams

/// Removes TLS from the connections of a source, on their way to a receiver.
package final class DecryptedStreams: StreamReceiver {
    private let keys: TLSKeys
    private let receiver: any StreamReceiver

    /// A filter in front of a receiver.
    package init(_ decoding: TLSDecoding, to receiver: any StreamReceiver) {
        keys = TLSKeys(decoding.keyLog, more: decoding.more)
        self.receiver = receiver
    }

    package func open(_ opening: Opening) -> any ConnectionReceiver {
        Connection(receiver.open(opening), keys, isWhole: opening.handshake)
    }

    package func advance(to time: Timestamp) { receiver.advance(to: time) }

    package func learned(keyLog: RawSpan) { keys.add(keyLog) }

    private final class Connection: ConnectionReceiver, FilteredReceiver {
        private let receiver: any ConnectionReceiver
        private let keys: TLSKeys
        private let isWhole: Bool
        private var filter: TLSFilter?
        private var hasBegun = false

        init(_ receiver: any ConnectionReceiver, _ keys: TLSKeys, isWhole: Bool) {
            (self.receiver, self.keys, self.isWhole) = (receiver, keys, isWhole)
        }

        func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
            if !hasBegun {
                hasBegun = true
                if TLSFilter.mayBegin(with: bytes, isWhole: isWhole) {
                    filter = TLSFilter(keys, isWhole: isWhole, to: self)
                }
            }
            if let filter {
                filter.received(bytes, from: direction, at: time, packet: packet)
            } else {
                passed(bytes, from: direction, at: time, packet: packet)
            }
        }

        func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
            if let filter { return filter.missing(byteCount, from: direction, at: time) }
            hasBegun = true
            passedMissing(byteCount, from: direction, at: time)
        }

        func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {
            if let filter { return filter.finished(ending, from: direction, at: time) }
            passedEnd(ending, from: direction, at: time)
        }

        func closed(_ closing: Closing) {
            filter?.closed(at: closing.time)
            filter = nil
            receiver.closed(closing)
        }

        func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {
            receiver.noticed(notice, from: direction, at: time, packet: packet)
        }

        func passed(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
            receiver.received(bytes, from: direction, at: time, packet: packet)
        }

        func passedMissing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
            receiver.missing(byteCount, from: direction, at: time)
        }

        func passedEnd(_ ending: Ending, from direction: Direction, at time: Timestamp) {
            receiver.finished(ending, from: direction, at: time)
        }
    }
}
