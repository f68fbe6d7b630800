import Framing
import Streams

/// What the store keeps of a frame beside its line: its bytes, if they may be shown, and where they came from.
package struct FrameDetail: Hashable, Sendable {
    /// A chunk that has bytes of the frame.
    package struct Cut: Hashable, Sendable {
        /// Where its bytes begin in the frame; 0 for the first one, which may begin before.
        var at: Int
        var time: Timestamp
        /// The number of its packet; 0 without packets.
        var packet: Int
    }

    /// The content, at most `mostBytes` of it; empty if it is hidden.
    var bytes: [UInt8] = []
    var isHidden = false
    var isTruncated = false
    /// Whether the content differs from the bytes of the stream: escapes are resolved.
    var isTransformed = false
    var isMerged = false
    /// Whether more of the body was streamed, so that conditions cannot be evaluated on the bytes.
    var isStreamed = false
    /// The parts of the content.
    var shape = FrameShape(head: 0, body: 0)
    var missing = 0
    var offset = 0
    var segments = 1
    var started = Timestamp(nanoseconds: 0)
    var packet = 0
    var cuts: [Cut] = []

    /// At most how many bytes of a frame are kept.
    package static let mostBytes = 65_536
    /// At most how many of its cuts.
    static let mostCuts = 256

    /// Nothing.
    package init() {}
}

/// In the data file: numbers of eight bytes, then the bytes.
extension FrameDetail {
    private var flags: Int {
        (isHidden ? 1 : 0) | (isTruncated ? 2 : 0) | (isTransformed ? 4 : 0) | (isMerged ? 8 : 0)
            | (isStreamed ? 16 : 0)
    }

    /// Adds the detail to bytes.
    func append(to output: inout [UInt8]) {
        func put(_ number: Int) { withUnsafeBytes(of: Int64(number)) { output += $0 } }
        put(flags)
        for part in [shape.head, shape.body, shape.tail, shape.layout, missing, offset, segments] { put(part) }
        // The number that says that there is none is none of 32 bits.
        put(shape.recalled.map { Int($0) } ?? .min)
        put(Int(started.nanoseconds))
        put(packet)
        put(cuts.count)
        for cut in cuts {
            put(cut.at)
            put(Int(cut.time.nanoseconds))
            put(cut.packet)
        }
        output += bytes
    }

    /// The detail in bytes; nil if they are cut off.
    init?(_ input: [UInt8]) {
        var place = 0
        func number() -> Int? {
            guard place + 8 <= input.count else { return nil }
            defer { place += 8 }
            return Int(input.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: Int64.self) })
        }
        var numbers: [Int] = []
        for _ in 0..<12 {
            guard let next = number() else { return nil }
            numbers.append(next)
        }
        (isHidden, isTruncated) = (numbers[0] & 1 != 0, numbers[0] & 2 != 0)
        (isTransformed, isMerged, isStreamed) = (numbers[0] & 4 != 0, numbers[0] & 8 != 0, numbers[0] & 16 != 0)
        shape = FrameShape(head: numbers[1], body: numbers[2], tail: numbers[3])
        shape.layout = numbers[4]
        (missing, offset, segments) = (numbers[5], numbers[6], numbers[7])
        shape.recalled = Int32(exactly: numbers[8])
        (started, packet) = (Timestamp(nanoseconds: Int64(numbers[9])), numbers[10])
        for _ in 0..<min(numbers[11], Self.mostCuts) {
            guard let at = number(), let time = number(), let packet = number() else { return nil }
            cuts.append(Cut(at: at, time: Timestamp(nanoseconds: Int64(time)), packet: packet))
        }
        bytes = Array(input[place...])
    }
}
