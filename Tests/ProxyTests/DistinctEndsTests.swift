import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

@testable import Proxy
@testable import frametap

/// Open connections with the same ends, in a capture.
@Suite struct DistinctEndsTests {
    private let start = Timestamp(seconds: 1_795_248_000, nanoseconds: 0)
    private let server = Endpoint(IPAddress(v4: 0x7f00_0001), 8_088)

    private func client(_ port: UInt16) -> Endpoint { Endpoint(IPAddress(v4: 0x7f00_0001), port) }

    /// Connections of two ports open, say lines, and end, in any order: a reader sees each as it was.
    @Test func eachConnectionIsWhole() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<60 {
            let place = Comment(rawValue: "seed \(seed), round \(round)")
            let output = MemoryOutput()
            let recorder = PacketRecorder(to: output, tool: "tests", start: start)
            var open: [(number: Int, legs: [Leg?])] = []
            var said: [String: [String]] = [:]
            var count = 0
            var isShared = false
            var ports: [Int: UInt16] = [:]
            for step in 0..<200 {
                let time = start + Interval(nanoseconds: Int64(step) * 1_000)
                if let place = open.indices.randomElement(using: &generator),
                    Int.random(in: 0..<4, using: &generator) > 0
                {
                    let (number, legs) = open[place]
                    let leg = legs.randomElement(using: &generator) ?? nil
                    let direction: Direction = Bool.random(using: &generator) ? .fromClient : .fromServer
                    if Int.random(in: 0..<10, using: &generator) == 0 {
                        for leg in legs {
                            recorder.finished(.reset, on: ConnectionLeg(number, leg), from: direction, at: time)
                            recorder.closed(ConnectionLeg(number, leg))
                        }
                        open.remove(at: place)
                        continue
                    }
                    let text = "\(number) \(step)"
                    said["\(number) \(leg?.rawValue ?? "") \(direction.sender)", default: []].append(text)
                    let bytes = Array((text + "\n").utf8)
                    recorder.received(bytes.span.bytes, on: ConnectionLeg(number, leg), from: direction, at: time)
                    continue
                }
                count += 1
                let port: UInt16 = Bool.random(using: &generator) ? 40_000 : 65_535
                isShared = isShared || open.contains { ports[$0.number] == port }
                ports[count] = port
                if Int.random(in: 0..<8, using: &generator) == 0 {
                    let opening = Opening(number: count, time: time, client: client(port), server: server)
                    recorder.refused(opening, .connectFailed, by: .fromServer, detail: "why")
                    continue
                }
                let legs: [Leg?] = Bool.random(using: &generator) ? [nil] : [.in, .out]
                for leg in legs {
                    recorder.opened(
                        Opening(number: count, leg: leg, time: time, client: client(port), server: server))
                }
                open.append((count, legs))
            }
            recorder.finish(at: start + Interval(nanoseconds: 1_000_000))
            let decoded = DecodedCapture(
                output.bytes, options: DecodingOptions(.fixed(try FormatOptions.format("line"))))
            #expect(decoded.damage == nil && decoded.summary.total.bytes.missing == 0, place)
            var read: [String: [String]] = [:]
            for line in try decoded.lines() where line.event == "frame" {
                let key = "\(line.connection) \(line["leg"] ?? "") \(line.from)"
                read[key, default: []].append(line.text(of: "body", "text") ?? "")
            }
            #expect(read == said, place)
            #expect(String(decoding: output.bytes, as: UTF8.self).contains("has the same ends") == isShared, place)
        }
    }

    /// Once the other one is over, a client is shown as it is.
    @Test func aPortIsOnlyAnotherOneWhileItMustBe() {
        var ends = DistinctEnds()
        func opening(_ number: Int, _ leg: Leg? = nil, _ port: UInt16 = 40_000) -> Opening {
            Opening(number: number, leg: leg, time: start, client: client(port), server: server)
        }
        #expect(ends.client(of: opening(1)) == client(40_000))
        #expect(
            ends.client(of: opening(2, .in)) == client(65_535) && ends.client(of: opening(2, .out)) == client(65_535))
        #expect(ends.client(of: opening(3, nil, 65_535)) == client(65_534))
        ends.closed(1)
        ends.closed(2)
        #expect(ends.client(of: opening(4)) == client(40_000))
        // One leg of connection 2 is still open.
        #expect(ends.client(of: opening(5, nil, 65_535)) == client(65_533))
        ends.closed(2)
        ends.closed(3)
        #expect(ends.client(of: opening(6, nil, 65_535)) == client(65_535))
    }
}
