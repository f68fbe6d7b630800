import Streams
import Synchronization

/// The fields of the headers that were read last.
///
/// A frame's type, its role in a pair, its secrets and its line each ask for its fields, and to go through a structure takes much longer
/// than to compare its bytes. Several threads may ask: one that would have to wait reads the header itself.
final class RecentFields: Sendable {
    private struct Entry {
        var bytes: [UInt8]
        var fields: [Field]
    }

    private final class Slot: Sendable {
        let entry = Mutex<Entry?>(nil)
    }

    /// Several, so that threads that are at work on different headers seldom replace one another's.
    private let slots = (0..<8).map { _ in Slot() }

    /// Of longer headers, nothing is kept.
    private static let longest = 2_048
    /// Nor are larger values, which a short header may hold compressed.
    private static let largest = 16_384

    /// The fields of these bytes, if they are known.
    func fields(of head: RawSpan) -> [Field]? {
        guard let slot = slot(of: head) else { return nil }
        return slot.entry.withLockIfAvailable { entry in
            guard let known = entry, head.elementsEqual(known.bytes.span.bytes) else { return nil }
            return known.fields
        } ?? nil
    }

    /// Keeps the fields of these bytes, instead of those of others.
    func keep(_ fields: [Field], of head: RawSpan) {
        guard let slot = slot(of: head), fields.reduce(0, { $0 + $1.value.size }) <= Self.largest else { return }
        _ = slot.entry.withLockIfAvailable { entry in
            entry = Entry(bytes: head.copied(), fields: fields)
        }
    }

    /// Where the fields of these bytes are, if anywhere: their length and last bytes say so, since many headers begin alike.
    private func slot(of head: RawSpan) -> Slot? {
        let count = head.byteCount
        guard count >= 8, count <= Self.longest else { return nil }
        let last = head.unsafeLoadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        return slots[Int(truncatingIfNeeded: ((last ^ UInt64(count)) &* 0x9E37_79B9_7F4A_7C15) >> 61)]
    }
}

extension FieldValue {
    /// How many bytes its text has; 0 for a number.
    fileprivate var size: Int {
        switch self {
        case .text(let text), .json(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .null, .boolean, .integer, .unsigned, .number: 0
        }
    }
}
