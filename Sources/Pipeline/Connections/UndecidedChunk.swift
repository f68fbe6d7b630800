import Streams

/// The first chunk of a direction, as long as nothing follows from it: a small part of a frame, or what a search for frames has not
/// decided on. All that a `SideDecoder` would know by then follows from it again, so that of a million connections that send
/// little, each needs little memory.
final class UndecidedChunk {
    let direction: Direction
    let bytes: [UInt8]
    let time: Timestamp
    let packet: Int
    /// That of the other direction.
    let other: UndecidedChunk?

    /// Longer chunks are not kept: they would have to be accounted for.
    static let longest = 256

    init(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int, other: UndecidedChunk?) {
        (self.bytes, self.direction) = (bytes.copied(), direction)
        (self.time, self.packet, self.other) = (time, packet, other)
    }

    private init(_ bytes: [UInt8], _ direction: Direction, _ time: Timestamp, _ packet: Int, other: UndecidedChunk?) {
        (self.bytes, self.direction, self.time, self.packet, self.other) = (bytes, direction, time, packet, other)
    }

    /// That of a direction, and what is left without it.
    func taking(_ direction: Direction) -> (chunk: UndecidedChunk, rest: UndecidedChunk?)? {
        if self.direction == direction { return (self, other) }
        guard let other else { return nil }
        return (other, UndecidedChunk(bytes, self.direction, time, packet, other: nil))
    }

    /// Packs a chunk and that of the other direction, if there are any, or unpacks them.
    ///
    /// - Returns: those that there are.
    static func pass(_ chunk: UndecidedChunk?, through numbers: inout PackedNumbers) -> UndecidedChunk? {
        var isThere = chunk != nil
        numbers.pass(&isThere)
        guard isThere else { return nil }
        var isFromClient = chunk?.direction == .fromClient
        var (bytes, time) = (chunk?.bytes ?? [], chunk?.time ?? Timestamp(nanoseconds: 0))
        var packet = chunk?.packet ?? 0
        numbers.pass(&isFromClient)
        numbers.pass(&bytes)
        numbers.pass(&time)
        numbers.pass(&packet)
        let other = pass(chunk?.other, through: &numbers)
        return UndecidedChunk(bytes, isFromClient ? .fromClient : .fromServer, time, packet, other: other)
    }
}
