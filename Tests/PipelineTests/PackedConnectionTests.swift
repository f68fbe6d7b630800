import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Connections of which nothing is held are packed until something happens; whatever follows is the same.
@Suite struct PackedConnectionTests {
    @Test(
        arguments: RandomConnections.frames.keys.sorted(),
        [(isNamed: true, limit: 1 << 20), (true, 300), (false, 1 << 20), (false, 5_000)])
    func whatFollowsIsTheSame(_ name: String, _ options: (isNamed: Bool, limit: Int)) throws {
        var rests = 0
        for _ in 0..<(options.isNamed ? 12 : 6) {
            let seed = UInt64.random(in: 0...UInt64.max)
            let (awake, packed) = (
                try RandomConnections.run(name, isNamed: options.isNamed, limit: options.limit, seed: seed),
                try RandomConnections.run(
                    name, isNamed: options.isNamed, limit: options.limit, seed: seed, rests: true)
            )
            #expect(awake.lines == packed.lines, "seed \(seed)")
            #expect(awake.held == packed.held, "seed \(seed)")
            rests += packed.rests
        }
        #expect(rests > 0)
    }

    /// Those whose format is looked for are packed while they sleep.
    @Test(arguments: RandomConnections.frames.keys.sorted(), 0...2) func undecidedOnesRest(
        _ name: String, _ detections: Int
    ) throws {
        var rests = 0
        for _ in 0..<20 {
            let seed = UInt64.random(in: 0...UInt64.max)
            func run(rests: Bool) throws -> RandomConnections.Run {
                try RandomConnections.run(
                    name, isNamed: false, limit: 1 << 20, seed: seed, detections: detections, rests: rests)
            }
            let (awake, packed) = (try run(rests: false), try run(rests: true))
            #expect(awake.lines == packed.lines, "seed \(seed)")
            rests += packed.rests
        }
        #expect(rests > 0)
    }

    /// One of which nobody knows the format rests until it is over; one that has seen more than a few chunks does not.
    @Test func aSleepingOneRests() throws {
        var options = DecodingOptions(.automatic(try BuiltInFormats.allWithVariants()))
        options.awakeDetections = 0
        let output = MemoryOutput()
        let decoder = Decoder(options, sinks: [NDJSONWriter(to: output, source: "", tool: "")])
        let time = Timestamp(seconds: 1_795_248_000, nanoseconds: 0)
        let end = Endpoint(IPAddress(v4: 0x0a00_0001), 9_000)
        let receiver = RestingReceiver(decoder)
        let connection = receiver.open(Opening(number: 1, time: time, client: end, server: end))
        for packet in 1...9 {
            connection.received([0xff, UInt8(packet)].span.bytes, from: .fromServer, at: time, packet: packet)
            #expect(receiver.rests == min(packet + 1, 9))
        }
        connection.closed(Closing(reason: .endOfInput, by: nil, time: time))
        decoder.finish()
        decoder.flush()
        #expect(output.text.contains("in the first 0 bytes from the client and 18 from the server"), "\(output.text)")
        #expect(output.text.contains("\"hex\":\"ff01ff02ff03ff04ff05ff06ff07ff08ff09\""), "\(output.text)")
    }

    /// A connection whose frames are only counted: its counts go on.
    @Test func countsGoOn() throws {
        let format = try #require(try BuiltInFormats.format(named: "len16-id"))
        let decoder = Decoder(DecodingOptions(.fixed(format)), sinks: [])
        let time = Timestamp(seconds: 1_795_248_000, nanoseconds: 0)
        let end = Endpoint(IPAddress(v6: 0x2001_0db8_0000_0000, 1), 9_000)
        let receiver = RestingReceiver(decoder)
        let connection = receiver.open(Opening(number: 1, time: time, client: end, server: end))
        for packet in 1...100 {
            let frames: [UInt8] = [0, 3, 0, 1, 0, 0, 3, 0, 2, 0]
            connection.received(
                frames.span.bytes, from: packet.isMultiple(of: 3) ? .fromServer : .fromClient, at: time,
                packet: packet)
        }
        #expect(receiver.rests == 101)
        connection.closed(Closing(reason: .endOfInput, by: nil, time: time))
        #expect(decoder.summary.total.bytes.frames == 200)
        #expect(decoder.summary.total.bytes.framed == 1_000)
        #expect(decoder.summary.total.merged == 200)
    }

    /// A connection whose format only its second chunk showed.
    @Test func aRecognizedOneRests() throws {
        let decoder = Decoder(DecodingOptions(.automatic(try BuiltInFormats.allWithVariants())), sinks: [])
        let time = Timestamp(seconds: 1_795_248_000, nanoseconds: 0)
        let end = Endpoint(IPAddress(v4: 0x0a00_0001), 9_000)
        let receiver = RestingReceiver(decoder)
        let connection = receiver.open(Opening(number: 1, time: time, client: end, server: end))
        let frame = "{\"type\":\"text\",\"size\":2}\r\nab"
        let bytes = Array((frame + frame).utf8)
        connection.received(bytes.span.bytes.extracting(0..<6), from: .fromClient, at: time, packet: 1)
        #expect(receiver.rests == 1)
        connection.received(bytes.span.bytes.extracting(6..<bytes.count), from: .fromClient, at: time, packet: 2)
        #expect(receiver.rests == 2)
    }
}
