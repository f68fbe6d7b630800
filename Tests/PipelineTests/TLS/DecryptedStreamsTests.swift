import Foundation
import Packets
import Pipeline
import Streams
import TLS
import TestSupport
import Testing

/// TLS is removed from the streams of a capture, or they stay as they are.
@Suite struct DecryptedStreamsTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../../fixtures/tls"
    ).standardized
    private static let names = [
        "chat-tls13", "chat-tls12-gcm", "chat-tls12-cbc", "tls12-renegotiation", "tls12-camellia",
    ]

    /// The stream events of a capture.
    private func events(_ name: String) throws -> [StreamEvent] {
        let capture = try Data(contentsOf: Self.folder.appending(path: name + ".pcap"))
        let log = StreamEventLog()
        var decoder = CaptureDecoder(receiver: log)
        var parser = CaptureParser()
        let bytes = Array(capture)
        _ = try parser.parse(bytes.span.bytes, isLast: true, to: &decoder)
        decoder.finish()
        return log.events
    }

    private func keys(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: Self.folder.appending(path: name + ".keys")))
    }

    /// The plaintext of the first connection, as tshark has it.
    private func plaintext(_ name: String) throws -> [String] {
        let text = try String(contentsOf: Self.folder.appending(path: name + ".plaintext"), encoding: .utf8)
        return text.split(separator: "\n").prefix(2).map { line in
            line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)[2]
                .replacingOccurrences(of: "\\n", with: "\n").replacingOccurrences(of: "\\r", with: "\r")
        }
    }

    private func pieces(of bytes: [UInt8], _ longest: Int, _ generator: inout SeededGenerator) -> [[UInt8]] {
        guard longest < bytes.count else { return [bytes] }
        var (pieces, rest) = ([[UInt8]](), bytes[...])
        while !rest.isEmpty {
            let piece = Array(rest.prefix(.random(in: 1...longest, using: &generator)))
            pieces.append(piece)
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }

    /// Plays events, with bytes in pieces of at most `longest`, through a filter.
    private func filtered(
        _ events: [StreamEvent], _ decoding: TLSDecoding, longest: Int = .max, seed: UInt64 = 0,
        learning secrets: [UInt8] = []
    ) -> StreamEventLog {
        var generator = SeededGenerator(seed: seed)
        let log = StreamEventLog()
        let streams = DecryptedStreams(decoding, to: log)
        if !secrets.isEmpty { streams.learned(keyLog: secrets.span.bytes) }
        var receivers: [Int: any ConnectionReceiver] = [:]
        for event in events {
            switch event {
            case .opened(let opening): receivers[opening.number] = streams.open(opening)
            case .received(let number, let direction, let bytes, let time, let packet):
                guard let receiver = receivers[number] else { continue }
                for piece in pieces(of: bytes, longest, &generator) {
                    receiver.received(piece.span.bytes, from: direction, at: time, packet: packet)
                }
            case .missing(let number, let direction, let count, let time):
                receivers[number]?.missing(count, from: direction, at: time)
            case .noticed(let number, let direction, let notice, let time, let packet):
                receivers[number]?.noticed(notice, from: direction, at: time, packet: packet)
            case .finished(let number, let direction, let ending, let time):
                receivers[number]?.finished(ending, from: direction, at: time)
            case .closed(let number, let closing): receivers[number]?.closed(closing)
            }
        }
        return log
    }

    private func text(_ log: StreamEventLog, _ direction: Direction) -> String {
        String(decoding: log.bytes(of: 1, from: direction), as: UTF8.self)
    }

    private func facts(_ log: StreamEventLog) -> [TLSFacts] {
        log.events.compactMap { if case .noticed(_, _, .tls(let facts), _, _) = $0 { facts } else { nil } }
    }

    /// Whether each direction's calls come in their order: bytes, then its end, then the connection's.
    private func isOrdered(_ log: StreamEventLog) -> Bool {
        var ended: Set<Direction> = []
        for event in log.events {
            switch event {
            case .received(1, let direction, _, _, _), .missing(1, let direction, _, _):
                if ended.contains(direction) { return false }
            case .finished(1, let direction, _, _): if !ended.insert(direction).inserted { return false }
            default: continue
            }
        }
        return true
    }

    /// A capture may have all of one direction before the other's first byte: its end waits for its bytes.
    @Test(arguments: names.filter { $0 != "tls12-camellia" }, Direction.allCases)
    func oneDirectionEndsBeforeTheOthersHello(name: String, first: Direction) throws {
        func direction(of event: StreamEvent) -> Direction? {
            switch event {
            case .received(_, let direction, _, _, _), .missing(_, let direction, _, _),
                .noticed(_, let direction, _, _, _), .finished(_, let direction, _, _):
                direction
            case .opened, .closed: nil
            }
        }
        let all = try events(name).filter { if case .opened(let it) = $0 { it.number == 1 } else { true } }
        let opened = all.filter { if case .opened = $0 { true } else { false } }
        let closed = all.filter { if case .closed(1, _) = $0 { true } else { false } }
        let sides: [StreamEvent] = [first, first.opposite].flatMap { side in all.filter { direction(of: $0) == side } }
        var decoding = TLSDecoding()
        var log = KeyLog()
        let secrets = try keys(name)
        _ = log.add(secrets.span.bytes)
        decoding.keyLog = log
        let result = filtered(opened + sides + closed, decoding)
        let expected = try plaintext(name)
        #expect(text(result, .fromClient) == expected[0] && text(result, .fromServer) == expected[1])
        let ends = result.events.filter { if case .finished(1, _, _, _) = $0 { true } else { false } }
        #expect(isOrdered(result) && ends.count == 2)
    }

    @Test(arguments: names.filter { $0 != "tls12-camellia" }, [1, 40, .max])
    func withKeysTheStreamsAreThePlaintext(name: String, longest: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var decoding = TLSDecoding()
        var log = KeyLog()
        let secrets = try keys(name)
        _ = log.add(secrets.span.bytes)
        decoding.keyLog = log
        let result = filtered(try events(name), decoding, longest: longest, seed: seed)
        let expected = try plaintext(name)
        #expect(text(result, .fromClient) == expected[0] && text(result, .fromServer) == expected[1], "seed \(seed)")
        #expect(facts(result).map(\.decryption) == [.keys] && isOrdered(result), "seed \(seed)")
        #expect(facts(result).first?.version?.hasPrefix("TLS 1.") == true)
        // The facts come before the first byte.
        let first = result.events.firstIndex { if case .received = $0 { true } else { false } }
        let tls = result.events.firstIndex { if case .noticed(_, _, .tls, _, _) = $0 { true } else { false } }
        #expect(try #require(tls) < #require(first))
    }

    /// Plaintext may be lost before any was decrypted: what follows it is not the beginning.
    @Test func plaintextThatIsLostFirstIsMissing() throws {
        let whole = try events("chat-tls12-gcm")
        let client = whole.flatMap { event -> [UInt8] in
            if case .received(1, .fromClient, let bytes, _, _) = event { bytes } else { [] }
        }
        var (starts, at) = ([Int](), 0)
        while at + 5 <= client.count {
            starts.append(at)
            at += 5 + Int(client[at + 3]) << 8 + Int(client[at + 4])
        }
        // The first two records after Finished, whose nonces and tags have 24 bytes.
        let first = try #require(starts.firstIndex { client[$0] == 23 })
        try #require(first + 2 < starts.count)
        let lost = starts[first]..<starts[first + 2]
        let lostText = lost.count - 2 * (5 + 24)
        var (sent, received, place) = ([StreamEvent](), [StreamEvent](), 0)
        for event in whole {
            switch event {
            case .received(1, .fromClient, let bytes, let time, let packet):
                let cut = lost.clamped(to: place..<place + bytes.count)
                let parts = [bytes[..<(cut.lowerBound - place)], bytes[(cut.upperBound - place)...]]
                place += bytes.count
                for (number, part) in parts.enumerated() {
                    if number == 1, !cut.isEmpty {
                        sent.append(.missing(connection: 1, from: .fromClient, byteCount: cut.count, time: time))
                    }
                    guard !part.isEmpty else { continue }
                    sent.append(
                        .received(
                            connection: 1, from: .fromClient, bytes: Array(part), time: time, packet: packet))
                }
            case .opened(let opening) where opening.number == 1: sent.insert(event, at: 0)
            case .finished(1, .fromClient, _, _): sent.append(event)
            case .received(1, _, _, _, _), .finished(1, _, _, _), .closed(1, _): received.append(event)
            default: continue
            }
        }
        var (decoding, log) = (TLSDecoding(), KeyLog())
        let secrets = try keys("chat-tls12-gcm")
        _ = log.add(secrets.span.bytes)
        decoding.keyLog = log
        // All of the client's stream comes first: nothing of the server's was decrypted either.
        let result = filtered(sent + received, decoding)
        let expected = try plaintext("chat-tls12-gcm")
        #expect(result.bytes(of: 1, from: .fromClient) == Array(expected[0].utf8.dropFirst(lostText)))
        #expect(text(result, .fromServer) == expected[1])
        let missing = result.events.indices.filter { place in
            if case .missing(1, .fromClient, lostText, _) = result.events[place] { true } else { false }
        }
        let beginning = try #require(
            result.events.firstIndex { event in
                if case .received(1, .fromClient, _, _, _) = event { true } else { false }
            })
        #expect(missing.count == 1 && missing.allSatisfy { $0 < beginning })
    }

    /// Secrets of the source count as those of a file.
    @Test func secretsOfTheSourceAreUsed() throws {
        let keys = try keys("chat-tls13")
        let result = filtered(try events("chat-tls13"), TLSDecoding(), learning: keys)
        #expect(text(result, .fromClient) == (try plaintext("chat-tls13"))[0])
    }

    @Test(arguments: names, [1, .max])
    func withoutKeysTheStreamsAreWhatTheyWere(name: String, longest: Int) throws {
        let events = try events(name)
        let seed = UInt64.random(in: 0...UInt64.max)
        var decoding = TLSDecoding()
        decoding.keyLog = name == "chat-tls13" ? KeyLog() : nil
        let result = filtered(events, decoding, longest: longest, seed: seed)
        for direction in Direction.allCases {
            let bytes = events.flatMap { event -> [UInt8] in
                if case .received(1, direction, let bytes, _, _) = event { bytes } else { [] }
            }
            #expect(result.bytes(of: 1, from: direction) == bytes, "seed \(seed)")
        }
        #expect(facts(result).first?.decryption == nil && isOrdered(result), "seed \(seed)")
        #expect(facts(result).first?.clientRandom?.count == 64)
        let wanted = result.events.contains {
            if case .noticed(_, _, .tlsKeysMissing, _, _) = $0 { true } else { false }
        }
        #expect(wanted == (name == "chat-tls13"), "reported only if there is a key log")
    }

    /// Keys of another connection, or wrong ones: nothing wrong is delivered.
    @Test func wrongSecretsDecryptNothing() throws {
        let text = String(decoding: try keys("chat-tls13"), as: UTF8.self)
        let wrong =
            text.split(separator: "\n").map { line in
                String(line.dropLast(4)) + (line.hasSuffix("0000") ? "1111" : "0000")
            }.joined(separator: "\n") + "\n"
        var log = KeyLog()
        let secrets = Array(wrong.utf8)
        _ = log.add(secrets.span.bytes)
        var decoding = TLSDecoding()
        decoding.keyLog = log
        let events = try events("chat-tls13")
        let result = filtered(events, decoding)
        let faults = result.events.compactMap { event -> String? in
            if case .noticed(_, _, .tlsFault(let text), _, _) = event { text } else { nil }
        }
        #expect(faults.contains { $0.contains("client random") }, "\(faults)")
        #expect(result.bytes(of: 1, from: .fromClient).first == 22, "the streams are those of the wire")
        let negotiated = try #require(facts(result).first)
        #expect(negotiated.version == "TLS 1.3" && negotiated.cipherSuite?.hasPrefix("TLS_") == true)
    }

    private func missingKeys(_ log: StreamEventLog) -> [(random: String?, label: String?, direction: Direction)] {
        log.events.compactMap { event -> (random: String?, label: String?, direction: Direction)? in
            guard case .noticed(1, let direction, .tlsKeysMissing(let random, let label), _, _) = event else {
                return nil
            }
            return (random, label, direction)
        }
    }

    /// What is missing of an incomplete key log is named, and so is what it costs.
    @Test(arguments: Direction.allCases) func aMissingSecretIsNamed(direction: Direction) throws {
        let label = direction == .fromClient ? "CLIENT_TRAFFIC_SECRET_0" : "SERVER_TRAFFIC_SECRET_0"
        let lines = String(decoding: try keys("chat-tls13"), as: UTF8.self).split(separator: "\n")
        let secrets = Array((lines.filter { !$0.hasPrefix(label) }.joined(separator: "\n") + "\n").utf8)
        let result = filtered(try events("chat-tls13"), TLSDecoding(), learning: secrets)
        let missing = missingKeys(result)
        #expect(missing.count == 1 && missing.first?.random != nil, "\(missing)")
        #expect(missing.first?.label == label && missing.first?.direction == direction, "\(missing)")
        #expect(text(result, direction).isEmpty && !text(result, direction.opposite).isEmpty)
        #expect(
            result.events.contains { event in
                if case .missing(1, direction, let count, _) = event { count > 0 } else { false }
            })
    }

    /// Without a ClientHello no keys can be chosen: that is said if the user gave some.
    @Test(arguments: [true, false]) func aConnectionWithoutItsClientHello(isRequested: Bool) throws {
        var hasHello = true
        let events = try events("chat-tls13").compactMap { event -> StreamEvent? in
            switch event {
            case .opened(var opening):
                opening.handshake = false
                return .opened(opening)
            case .received(1, .fromClient, _, _, _) where hasHello:
                hasHello = false
                return nil
            default: return event
            }
        }
        var decoding = TLSDecoding()
        decoding.keyLog = isRequested ? KeyLog() : nil
        let missing = missingKeys(filtered(events, decoding))
        #expect(missing.count == (isRequested ? 1 : 0) && missing.allSatisfy { $0.random == nil }, "\(missing)")
    }

    /// Any other protocol, cut anywhere, and bytes that begin like TLS and are not.
    @Test func otherStreamsPassUnchanged() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let opening = Opening(
            number: 1, time: Timestamp(nanoseconds: 0), client: Endpoint(IPAddress(v4: 1), 1),
            server: Endpoint(IPAddress(v4: 2), 2))
        for _ in 0..<400 {
            let beginning: [UInt8] =
                Bool.random(using: &generator)
                ? Array([22, 3, 1, 0, 5, 2, 0][..<Int.random(in: 1...7, using: &generator)]) : []
            var opening = opening
            opening.handshake = Bool.random(using: &generator)
            var events: [StreamEvent] = [.opened(opening)]
            var sent = PerDirection<[UInt8]>(fromClient: [], fromServer: [])
            for index in 0..<Int.random(in: 1...6, using: &generator) {
                let direction: Direction = Bool.random(using: &generator) ? .fromClient : .fromServer
                let bytes = (index == 0 ? beginning : []) + generator.bytes(.random(in: 1...30, using: &generator))
                sent[direction] += bytes
                events.append(
                    .received(connection: 1, from: direction, bytes: bytes, time: opening.time, packet: index))
            }
            events.append(.closed(connection: 1, Closing(reason: .endOfInput, by: nil, time: opening.time)))
            let result = filtered(events, TLSDecoding(), longest: 9, seed: seed)
            for direction in Direction.allCases {
                #expect(result.bytes(of: 1, from: direction) == sent[direction], "seed \(seed)")
            }
        }
    }
}
