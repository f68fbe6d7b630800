import Streams

/// What the index has of an event: enough to find it, to select it, and to count it.
///
/// Its memory is its form in the index file, which only this process reads.
struct EventRecord: BitwiseCopyable, Sendable {
    /// The kinds of events, as lines name them.
    enum Kind: UInt8, Sendable, CaseIterable {
        case trace, opened, tls, format, frame, missing, unframed, dropped, finding, action, closed, summary

        /// The kind as lines name it.
        var name: String { "\(self)" }
        /// The kind that lines name so; nil if there is none.
        init?(name: some StringProtocol) {
            guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
            self = kind
        }
    }

    /// Where the line begins in the data file; its row and its detail follow it.
    var position: Int64 = 0
    /// In nanoseconds since 1970.
    var time: Int64 = 0
    var lineLength: UInt32 = 0
    var rowLength: UInt32 = 0
    var detailLength: UInt32 = 0
    /// Its number; 0 without one.
    var connection: UInt32 = 0
    /// The frame's index; the largest number without one.
    var index = UInt32.max
    /// In bytes.
    var length: UInt32 = 0
    /// The number of the type, of the finding's kind, or of the action.
    var name: UInt32 = 0
    /// The event that it is paired with, from 1; 0 without one.
    var pair: UInt32 = 0
    var rawKind: UInt8 = 0
    /// 0 without a side, 1 from the client, 2 from the server.
    var rawSide: UInt8 = 0
    /// 0 without a leg, 1 in, 2 out.
    var rawLeg: UInt8 = 0
    var flags: UInt8 = 0
    var spare: UInt32 = 0

    /// The size of a record in the file.
    static let size = MemoryLayout<EventRecord>.stride

    /// What `flags` says.
    enum Flag {
        static let heartbeat: UInt8 = 1
        /// It is the answer of its pair, not the request.
        static let answer: UInt8 = 2
        /// It has secrets, which are not shown.
        static let secret: UInt8 = 4
    }

    var kind: Kind { Kind(rawValue: rawKind) ?? .trace }
    var from: Direction? { rawSide == 0 ? nil : rawSide == 1 ? .fromClient : .fromServer }
    var leg: Leg? { rawLeg == 0 ? nil : rawLeg == 1 ? .in : .out }
    var isHeartbeat: Bool { flags & Flag.heartbeat != 0 }

    /// The side as `rawSide`.
    static func side(_ direction: Direction?) -> UInt8 { direction.map { $0 == .fromClient ? 1 : 2 } ?? 0 }
    /// The leg as `rawLeg`.
    static func leg(_ leg: Leg?) -> UInt8 { leg.map { $0 == .in ? 1 : 2 } ?? 0 }
}

extension EventRecord {
    /// Adds the record to bytes.
    func append(to bytes: inout [UInt8]) { withUnsafeBytes(of: self) { bytes += $0 } }

    /// The records in bytes.
    static func all(in bytes: [UInt8]) -> [EventRecord] {
        bytes.withUnsafeBytes { raw in
            (0..<raw.count / size).map { raw.loadUnaligned(fromByteOffset: $0 * size, as: EventRecord.self) }
        }
    }
}
