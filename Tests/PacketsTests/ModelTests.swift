import Packets
import Streams
import Testing

/// A random conversation, segmented, reordered, retransmitted, overlapping, partly lost; and a model that defines the expected
/// result: it paints every segment, in order of capture, over an empty stream; the first copy of a byte wins.
@Suite struct ModelTests {
    /// Two versions of a byte.
    struct Conflict: Hashable {
        var offset: Int
        var kept: UInt8
        var other: UInt8
    }

    /// One direction of the conversation.
    struct Stream {
        var first: UInt32
        var bytes: [UInt8]
        /// A captured segment: its position, and the bytes.
        var segments: [(offset: Int, bytes: [UInt8])] = []
        /// For each of them, up to where the other side had acknowledged when it was captured.
        var acknowledged: [Int] = []

        init(_ random: inout SeededRandom) {
            first =
                Bool.random(using: &random) ? UInt32.max - UInt32.random(in: 0...200, using: &random) : random.word()
            bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            let largest = [1, 5, 40, 300].randomElement(using: &random) ?? 1
            let (lost, repeated) = (Int.random(in: 0...3, using: &random), Int.random(in: 0...3, using: &random))
            let areDifferent = Int.random(in: 0...3, using: &random) == 0
            var cursor = 0
            while cursor < bytes.count, segments.count < 40 {
                let end = min(bytes.count, cursor + Int.random(in: 1...largest, using: &random))
                let start = max(0, cursor - (random.chance(repeated) ? Int.random(in: 0...20, using: &random) : 0))
                if !random.chance(lost) { segments.append((start, Array(bytes[start..<end]))) }
                if random.chance(repeated), let again = segments.randomElement(using: &random) {
                    let changed = again.bytes.map { areDifferent && random.chance(5) ? ~$0 : $0 }
                    segments.append((again.offset, changed))
                }
                cursor = end
            }
            let distance = [0, 1, 3, 100].randomElement(using: &random) ?? 0
            for index in segments.indices {
                segments.swapAt(
                    index, min(segments.count - 1, index + Int.random(in: 0...distance, using: &random)))
            }
        }

        /// The bytes that arrived, the missing ranges, and both versions of bytes with conflicting copies.
        ///
        /// - Parameters:
        ///   - isSettled: whether bytes are passed on as soon as those before them have arrived; otherwise at the end.
        ///   - policy: whose byte wins as long as it has not been passed on.
        func expected(from start: Int, isSettled: Bool, comparesAll: Bool, policy: OverlapPolicy) -> (
            bytes: [UInt8], missing: [Range<Int>], conflicts: Set<Conflict>
        ) {
            var canvas = [UInt8?](repeating: nil, count: segments.map { $0.offset + $0.bytes.count }.max() ?? 0)
            var conflicts: Set<Conflict> = []
            for (place, segment) in segments.enumerated() {
                // What is passed on already is compared with only where a history is kept, and not for what looks like a
                // keep-alive, or a copy of one.
                let contiguous = canvas.dropFirst(start).firstIndex { $0 == nil } ?? canvas.count
                let next = isSettled ? contiguous : start
                let isKeepAlive =
                    segment.bytes.count == 1
                    && (segment.offset == next - 1 || segment.offset < acknowledged[place])
                let compared = comparesAll && !isKeepAlive ? start : next
                for (index, byte) in segment.bytes.enumerated() {
                    let offset = segment.offset + index
                    if let earlier = canvas[offset] {
                        let isReplaced = policy == .last && offset >= next
                        if isReplaced { canvas[offset] = byte }
                        guard earlier != byte, offset >= compared else { continue }
                        conflicts.insert(
                            Conflict(
                                offset: offset - start, kept: isReplaced ? byte : earlier,
                                other: isReplaced ? earlier : byte))
                    } else {
                        canvas[offset] = byte
                    }
                }
            }
            var missing: [Range<Int>] = []
            for offset in canvas.indices where offset >= start && canvas[offset] == nil {
                if let last = missing.last, last.upperBound == offset - start {
                    missing[missing.count - 1] = last.lowerBound..<offset - start + 1
                } else {
                    missing.append(offset - start..<offset - start + 1)
                }
            }
            return (canvas.dropFirst(start).compactMap { $0 }, missing, conflicts)
        }
    }

    @Test(arguments: 0..<1500)
    func streamsAreWhatTheModelSays(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var streams = PerDirection(fromClient: Stream(&random), fromServer: Stream(&random))
        let hasSYN = random.chance(7)
        let hasFIN = random.chance(5)
        var options = ReassemblyOptions()
        options.gapGracePackets = 1000  // graces have tests of their own
        options.conflictHistory = seed % 2 == 0 ? 0 : 1000
        options.overlap = seed % 4 < 2 ? .first : .last
        var talk = Conversation(options)
        if hasSYN {
            talk.client(streams.fromClient.first &- 1, "", .syn)
            talk.server(streams.fromServer.first &- 1, "", .syn, ack: streams.fromClient.first)
        }
        // Both directions, mixed at random; acknowledgments of the receiver's data, if the handshake was seen.
        var next = PerDirection(fromClient: 0, fromServer: 0)
        var received = PerDirection(fromClient: Set<Int>(), fromServer: Set<Int>())
        var acknowledged = PerDirection(fromClient: [Int](), fromServer: [Int]())
        while true {
            let waiting = Direction.allCases.filter { next[$0] < streams[$0].segments.count }
            guard let direction = waiting.randomElement(using: &random) else { break }
            let segment = streams[direction].segments[next[direction]]
            next[direction] += 1
            streams[direction].acknowledged.append(acknowledged[direction].last ?? 0)
            var ack: UInt32?
            if hasSYN, random.chance(5) {
                let other = direction.opposite
                let contiguous = (0...).first { !received[other].contains($0) } ?? 0
                ack = streams[other].first &+ UInt32(contiguous)
                if contiguous > acknowledged[other].last ?? 0 { acknowledged[other].append(contiguous) }
            }
            talk.send(direction, streams[direction].first &+ UInt32(segment.offset), segment.bytes, ack: ack)
            received[direction].formUnion(segment.offset..<segment.offset + segment.bytes.count)
        }
        if hasFIN {
            for direction in Direction.allCases where hasSYN || !streams[direction].segments.isEmpty {
                let end = streams[direction].first &+ UInt32(streams[direction].bytes.count)
                talk.send(direction, end, [], .fin)
            }
        }
        talk.finish()
        if !hasSYN && Direction.allCases.allSatisfy({ streams[$0].segments.isEmpty }) {
            #expect(talk.log.events.isEmpty)
            return
        }
        for direction in Direction.allCases {
            check(
                streams[direction], direction, talk.log, hasSYN: hasSYN, hasFIN: hasFIN,
                acknowledged: hasSYN ? acknowledged[direction] : nil, isClient: isClient(talk.log),
                options)
        }
    }

    /// Whether the end that this test calls the client was treated as the client.
    private func isClient(_ log: StreamEventLog) -> Bool {
        guard case .opened(let opening) = log.events.first else { return false }
        return opening.client == Conversation.client
    }

    private func check(
        _ stream: Stream, _ direction: Direction, _ log: StreamEventLog, hasSYN: Bool, hasFIN: Bool,
        acknowledged: [Int]?, isClient: Bool, _ options: ReassemblyOptions
    ) {
        #expect(isClient)
        let start = hasSYN ? 0 : stream.segments.map(\.offset).min() ?? 0
        let expected = stream.expected(
            from: start, isSettled: hasSYN, comparesAll: options.conflictHistory > 0, policy: options.overlap)
        var (offset, missing, conflicts) = (0, [Range<Int>](), Set<Conflict>())
        var (bytes, acknowledgments) = ([UInt8](), [Int]())
        var (time, ends, closings) = (Timestamp(nanoseconds: .min), 0, 0)
        for event in log.events {
            switch event {
            case .received(_, direction, let part, let at, _):
                #expect(!part.isEmpty && at >= time && ends == 0)
                (bytes, offset, time) = (bytes + part, offset + part.count, at)
            case .missing(_, direction, let count, let at):
                #expect(count > 0 && at >= time && ends == 0)
                missing.append(offset..<offset + count)
                (offset, time) = (offset + count, at)
            case .noticed(_, direction, .conflict(let at, let kept, let other), _, _):
                for index in kept.indices where kept[index] != other[index] {
                    conflicts.insert(Conflict(offset: at + index, kept: kept[index], other: other[index]))
                }
            case .noticed(_, direction.opposite, .acknowledged(let at), _, _): acknowledgments.append(at)
            case .finished(_, direction, .fin, _): ends += 1
            case .closed: closings += 1
            default: break
            }
        }
        #expect(bytes == expected.bytes)
        // The number of a FIN reveals bytes that no segment contained.
        let captured = stream.segments.map { $0.offset + $0.bytes.count }.max() ?? start
        let hasEnd = hasFIN && (hasSYN || !stream.segments.isEmpty)
        let tail = hasEnd && captured < stream.bytes.count ? [captured - start..<stream.bytes.count - start] : []
        #expect(missing == expected.missing + tail)
        if hasSYN { #expect(conflicts == expected.conflicts) }
        if let acknowledged { #expect(acknowledgments == acknowledged) }
        #expect(ends == (hasFIN && (hasSYN || !stream.segments.isEmpty) ? 1 : 0))
        #expect(closings == 1)
        if case .closed = log.events.last {} else { Issue.record("closed is not last") }
    }

    /// Whatever arrives, every byte passed on has its place, nothing traps, and `closed` is the last event.
    ///
    /// The byte at a sequence number is its lowest eight bits: then the byte at a stream offset is that offset and a
    /// constant, however many bytes are missing in between.
    @Test(arguments: 0..<200)
    func randomSegments(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var options = ReassemblyOptions()
        options.reorderingLimit = 2000
        options.reorderingSegmentLimit = 20
        options.overlap = seed % 2 == 0 ? .first : .last
        var talk = Conversation(options)
        let numbers = (0..<3).map { _ in random.word() }
        for _ in 0..<300 {
            let base = (numbers.randomElement(using: &random) ?? 0) &+ UInt32.random(in: 0...500, using: &random)
            talk.time += Int.random(in: -20...60, using: &random)
            let flags = TCPFlags(rawValue: random.chance(2) ? UInt8.random(in: 0...255, using: &random) : 0x10)
            let first = flags.contains(.syn) ? base &+ 1 : base
            let payload = (0..<(random.chance(5) ? UInt32.random(in: 0...200, using: &random) : 0)).map {
                UInt8(truncatingIfNeeded: first &+ $0)
            }
            talk.send(
                Bool.random(using: &random) ? .fromClient : .fromServer, base, payload, flags,
                ack: random.chance(5) ? (numbers.randomElement(using: &random) ?? 0) &+ 300 : nil,
                window: UInt16.random(in: 0...2, using: &random), length: payload.count + (random.chance(1) ? 9 : 0))
        }
        talk.finish()
        var open: Set<Int> = []
        var offsets: [Int: [Int]] = [:]
        var starts: [[Int]: UInt8] = [:]
        for event in talk.log.events {
            switch event {
            case .opened(let opening): #expect(open.insert(opening.number).inserted)
            case .closed(let number, _): #expect(open.remove(number) != nil)
            case .received(let number, let from, let bytes, _, _):
                #expect(open.contains(number) && !bytes.isEmpty)
                for byte in bytes {
                    let offset = offsets[number, default: [0, 0]][Int(from.rawValue)]
                    let start = byte &- UInt8(truncatingIfNeeded: offset)
                    #expect(starts[[number, Int(from.rawValue)], default: start] == start)
                    starts[[number, Int(from.rawValue)]] = start
                    offsets[number, default: [0, 0]][Int(from.rawValue)] += 1
                }
            case .missing(let number, let from, let count, _):
                #expect(open.contains(number) && count > 0)
                offsets[number, default: [0, 0]][Int(from.rawValue)] += count
            case .noticed(_, _, .conflict, _, _): Issue.record("all copies are the same")
            case .noticed(let number, _, _, _, _), .finished(let number, _, _, _): #expect(open.contains(number))
            }
        }
        #expect(open.isEmpty)
    }
}

extension SeededRandom {
    mutating func word() -> UInt32 { UInt32(truncatingIfNeeded: next()) }

    /// True in this many of ten cases.
    mutating func chance(_ ofTen: Int) -> Bool { Int.random(in: 0..<10, using: &self) < ofTen }
}
