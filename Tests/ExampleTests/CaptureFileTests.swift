import Foundation
import Testing

/// Capture files as commands read them: compressed, several at once, damaged.
@Suite struct CaptureFileTests {
    let capture: [UInt8]
    let path = Example(name: "redis").capturePath

    init() throws {
        capture = Array(try Data(contentsOf: URL(filePath: path)))
    }

    /// The offsets of the records in the pcap file, and its end.
    private var records: [Int] {
        var starts = [24]
        while let last = starts.last, last < capture.count {
            starts.append(last + 16 + (0..<4).reduce(0) { $0 | Int(capture[last + 8 + $1]) << (8 * $1) })
        }
        return starts
    }

    private func run(_ arguments: [String], input: [UInt8] = []) throws -> Program.Result {
        try Program.run("frametap", arguments, input: input)
    }

    private func gzip(_ bytes: [UInt8]) throws -> [UInt8] { try Program.output("gzip", ["-c"], input: bytes).output }

    /// The lines of a trace after the first, which names the file.
    private func events(_ result: Program.Result) -> [Substring] {
        Array(result.text.split(separator: "\n").dropFirst())
    }

    @Test func compressedCapturesAreReadUnderAnyName() throws {
        let members = try gzip(Array(capture.prefix(5_000))) + gzip(Array(capture.dropFirst(5_000)))
        for name in ["a.pcap.gz", "a.pcap"] {
            let file = try TemporaryFile(members, name: name)
            for command in ["streams", "packets"] {
                let plain = try Program.output("frametap", [command, path]).text
                #expect(try Program.output("frametap", [command, file.path]).text == plain)
                #expect(try Program.output("frametap", [command, "-"], input: members).text == plain)
            }
            let plain = try events(run(["decode", path, "--as", "ndjson"]))
            #expect(try events(run(["decode", file.path, "--as", "ndjson"])) == plain)
            #expect(try events(run(["decode", "-", "--as", "ndjson"], input: members)) == plain)
        }
    }

    @Test func connectionsGoOnAcrossFiles() throws {
        let starts = records
        // Each record goes to one of three files, or, the second time, each file has a third of them.
        for isDealt in [true, false] {
            var files = [[UInt8]](repeating: Array(capture.prefix(24)), count: 3)
            for (index, (start, end)) in zip(starts, starts.dropFirst()).enumerated() {
                files[isDealt ? index % 3 : index * 3 / (starts.count - 1)] += capture[start..<end]
            }
            files[1] = try gzip(files[1])
            let parts = try files.map { try TemporaryFile($0) }
            let paths = parts.map(\.path)
            let orders = isDealt ? [paths] : [paths, paths.reversed()]
            for order in orders {
                let whole = try Program.output("frametap", ["streams", path]).text
                #expect(try Program.output("frametap", ["streams"] + order).text == whole)
                let trace = try events(run(["decode", "--as", "ndjson"] + order))
                #expect(try trace == events(run(["decode", "--as", "ndjson", path])))
            }
            let packets = try Program.output("frametap", ["packets"] + paths).text.split(separator: "\n")
            #expect(packets.count == starts.count - 1)
            #expect(packets.allSatisfy { line in paths.contains { line.hasPrefix("{\"file\":\"\($0)\",\"number\":") } })
        }
    }

    @Test func moreFilesThanMayBeOpen() throws {
        let starts = records
        let parts = try (0..<90).map { index in
            let bytes = stride(from: index, to: starts.count - 1, by: 90).flatMap {
                capture[starts[$0]..<starts[$0 + 1]]
            }
            return try TemporaryFile(capture.prefix(24) + bytes)
        }
        let paths = parts.map { "'\($0.path)'" }.joined(separator: " ")
        let program = try Program.find("frametap").path
        let result = try Program.output("sh", ["-c", "ulimit -n 40; exec '\(program)' streams \(paths)"])
        #expect(try result.text == Program.output("frametap", ["streams", path]).text)
    }

    /// Somebody who has a trace may look for a command that reads it.
    @Test(arguments: ["decode", "report", "streams"]) func aTraceIsNamedAsOne(command: String) throws {
        let trace = try TemporaryFile(Array(#"{"event":"trace","version":2,"source":"a","tool":"b"}"#.utf8))
        let result = try run([command, trace.path])
        #expect(result.status == 2)
        #expect(
            result.errors.contains("\(trace.path) is a trace, not a capture: frametap view shows"), "\(result.errors)")
        let compressed = try TemporaryFile(gzip(Array(#"{"event":"trace","version":2,"source":"a","tool":"b"}"#.utf8)))
        let expanded = try run([command, compressed.path])
        #expect(expanded.status == 2)
        #expect(expanded.errors.contains("is a compressed trace, not a capture: expand it"), "\(expanded.errors)")
        // A pipe can be read only once.
        let program = try Program.find("frametap").path
        let piped = try Program.run(
            "sh", ["-c", "cat '\(trace.path)' | timeout 20 '\(program)' \(command) /dev/stdin"])
        #expect(piped.status == 2 && piped.errors.contains("/dev/stdin is a trace, not a capture"), "\(piped.errors)")
    }

    @Test func aDamagedFileAmongOthersIsSaid() throws {
        let cut = try TemporaryFile(Array(capture.dropLast(3)))
        let page = try TemporaryFile(Array("<html>".utf8))
        let result = try run(["streams", page.path, cut.path, path, "/nowhere"])
        #expect(result.status == 2)
        #expect(
            result.errors.contains(
                "\(page.path): byte 0: expected a pcap, pcapng or gzip magic number, found 0x3c68746d (\"<htm\")"))
        #expect(result.errors.contains("\(cut.path): byte \(records[records.count - 2]): expected "))
        #expect(result.errors.contains("cannot open /nowhere: No such file or directory"))
        #expect(result.errors.split(separator: "\n").count == 3, "\(result.errors)")
        #expect(try result.text == Program.output("frametap", ["streams", path]).text)
    }

    @Test func otherCompressionsAreNamed() throws {
        let files: [(String, [UInt8])] = [
            ("zstd", [0x28, 0xb5, 0x2f, 0xfd]), ("xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]),
            ("bzip2", Array("BZh9".utf8)),
        ]
        for (name, bytes) in files {
            let file = try TemporaryFile(bytes)
            let advice = " is compressed with \(name), which is not read; expand it first: \(name) -dc "
            for command in ["decode", "report", "streams", "packets"] {
                let result = try run([command, file.path])
                #expect(result.status == 2, "\(command): \(result.errors)")
                let message = "frametap: \(file.path)\(advice)\(file.path) | frametap decode -\n"
                #expect(result.errors.contains(message), "\(command): \(result.errors)")
            }
            let piped = try run(["streams", "-"], input: bytes)
            #expect(piped.errors == "frametap: standard input\(advice)FILE | frametap decode -\n")
        }
    }

    /// A capture of which nothing can be read does not look like an empty one.
    @Test func anUnreadLinkTypeIsNamed() throws {
        let file = try TemporaryFile(capture.with(117, at: 20))
        let count = try Program.output("frametap", ["packets", file.path]).text.split(separator: "\n").count
        let message = "frametap: link type PFLOG (117) is not read: \(count) packets skipped\n"
        for command in [["decode"], ["decode", "--threads", "1"], ["report"]] {
            #expect(try run(command + [file.path]).errors == message, "\(command)")
        }
        let streams = try run(["streams", file.path])
        #expect(streams.status == 0 && streams.text.isEmpty)
        #expect(streams.errors == message + "frametap: packets skipped: \(count) link type\n")
    }

    /// Nothing but a diagnostic is written if standard error is not a terminal.
    @Test func progressIsForTerminals() throws {
        #expect(try run(["decode", path]).errors == "")
        #expect(try run(["streams", path, path]).errors == "")
    }

    /// The fault in a file, how many packets precede it, and the message.
    struct Damage: CustomTestStringConvertible, Sendable {
        var name: String
        var packets: Int
        var message: String
        var damage: @Sendable ([UInt8]) -> [UInt8]
        var testDescription: String { name }

        init(
            _ name: String, _ packets: Int, _ message: String, isPcapng: Bool = false,
            _ damage: @escaping @Sendable ([UInt8]) -> [UInt8]
        ) {
            (self.name, self.packets, self.message) = (name, packets, message)
            self.damage = { capture in damage(isPcapng ? Self.pcapng : capture) }
        }

        /// Section header (28 bytes), interface (20), two packets of 4 bytes (36 each).
        private static let pcapng: [UInt8] = {
            func block(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
                let length = number(body.count + 12)
                return [type, 0, 0, 0] + length + body + length
            }
            func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
            let section: [UInt8] = [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0] + [UInt8](repeating: 0xff, count: 8)
            let packet = block(6, [0, 0, 7, 4, 4].flatMap(number) + [1, 2, 3, 4])
            let start: [UInt8] = [0x0a, 0x0d, 0x0d, 0x0a]
            let interface = block(1, [1, 0, 0, 0, 0, 0, 0, 0])
            return [start, number(28), section, number(28), interface, packet, packet].flatMap { $0 }
        }()
    }

    /// The first record of the pcap file has 16 + 74 bytes.
    static let damages = [
        Damage("empty", 0, "byte 0: expected a capture file's header, found the end of the file") { _ in [] },
        Damage(
            "3 bytes", 0, "byte 0: expected 4 bytes of a capture file's header, found the end of the file after 3 of"
        ) {
            Array($0.prefix(3))
        },
        Damage(
            "pcap header cut", 0,
            "byte 0: expected 24 bytes of a capture file's header, found the end of the file after"
        ) {
            Array($0.prefix(20))
        },
        Damage("page", 0, "byte 0: expected a pcap, pcapng or gzip magic number, found 0x3c21444f (\"<!DO\")") { _ in
            Array("<!DOCTYPE html>".utf8)
        },
        Damage("bytes", 0, "byte 0: expected a pcap, pcapng or gzip magic number, found 0x00010203") { _ in
            [0, 1, 2, 3]
        },
        Damage("version", 0, "byte 4: expected version 2.4, found version 9.4") { $0.with(9, at: 4) },
        Damage(
            "record header cut", 1, "byte 114: expected 16 bytes of a record header, found the end of the file after 7"
        ) {
            Array($0.prefix(114 + 7))
        },
        Damage("record cut", 1, "byte 114: expected 90 bytes of a record, found the end of the file after 50 of them") {
            Array($0.prefix(114 + 50))
        },
        Damage("captured length", 1, "byte 122: expected a captured length of at most 262144, found ") {
            $0.with(0x7f, at: 125)
        },
        Damage(
            "block cut", 1, "byte 84: expected 36 bytes of a block, found the end of the file after 30", isPcapng: true
        ) {
            Array($0.dropLast(6))
        },
        Damage(
            "block length", 1, "byte 88: expected a block length of at least 12, a multiple of 4, found 37",
            isPcapng: true
        ) {
            $0.with(37, at: 88)
        },
        Damage("lengths differ", 1, "byte 116: expected the block length 36 again, found 99", isPcapng: true) {
            $0.with(99, at: 116)
        },
        Damage("interface", 1, "byte 92: expected one of 1 interfaces, found interface 5", isPcapng: true) {
            $0.with(5, at: 92)
        },
        Damage("packet length", 1, "byte 112: expected 200 bytes of packet in its block, found 4", isPcapng: true) {
            $0.with(200, at: 104)
        },
        Damage("byte order", 0, "byte 8: expected the byte-order magic 0x1a2b3c4d, found 0x4d3c2b00", isPcapng: true) {
            $0.with(0, at: 11)
        },
    ]

    @Test(arguments: damages)
    func whatWasReadableIsListedAndTheRestSaid(_ damage: Damage) throws {
        let file = try TemporaryFile(damage.damage(capture))
        let result = try run(["packets", file.path])
        #expect(result.status == 2)
        #expect(result.errors.hasPrefix("frametap: \(file.path): \(damage.message)"), "\(result.errors)")
        #expect(result.text.split(separator: "\n").count == damage.packets, "\(result.text)")
        for command in [["decode", "--as", "ndjson"], ["streams"]] {
            // `streams` also says what it skipped.
            let other = try run(command + [file.path])
            #expect(other.status == 2 && other.errors.hasPrefix(result.errors), "\(command): \(other.errors)")
        }
        let compressed = try run(["packets", "-"], input: gzip(damage.damage(capture)))
        let message = damage.message.replacing(/^byte \d+/) { "\($0.output) of the expanded file" }
        #expect(compressed.status == 2 && compressed.text == result.text)
        #expect(compressed.errors.hasPrefix("frametap: standard input: \(message)"), "\(compressed.errors)")
    }

    @Test func packetsNameInterfacesAndLinkTypes() throws {
        let line = try Program.output("frametap", ["packets", path]).text.split(separator: "\n").first ?? ""
        #expect(
            line.contains("\"interface\":0,\"linkType\":1,\"linkTypeName\":\"ETHERNET\",\"captured\":74,"), "\(line)")
    }

    @Test func streamFilesHaveWhatIsListed() throws {
        // Every third record is omitted: there are gaps.
        let starts = records
        let kept = zip(starts, starts.dropFirst()).enumerated().filter { $0.offset % 7 != 6 }.flatMap {
            capture[$0.element.0..<$0.element.1]
        }
        let file = try TemporaryFile(Array(capture.prefix(24)) + kept)
        struct Side: Decodable { var bytes, missing: Int }
        struct Stream: Decodable { var connection: Int, fromClient, fromServer: Side }
        for options in [[], ["--fill-missing"]] {
            let folder = file.path + "-streams"
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let list = try Program.output("frametap", ["streams", file.path, "--directory", folder] + options).output
            let streams = try list.split(separator: UInt8(ascii: "\n")).map {
                try JSONDecoder().decode(Stream.self, from: Data($0))
            }
            #expect(streams.contains { $0.fromServer.missing > 0 })
            for stream in streams {
                let number = String("0000\(stream.connection)".suffix(4))
                for (side, name) in [(stream.fromClient, "client"), (stream.fromServer, "server")] {
                    let bytes = try Data(contentsOf: URL(filePath: "\(folder)/\(number)-\(name).bin"))
                    #expect(bytes.count == side.bytes + (options.isEmpty ? 0 : side.missing))
                }
            }
        }
        #expect(try run(["streams", path, "--fill-missing"]).status == 64)
    }
}

extension [UInt8] {
    fileprivate func with(_ byte: UInt8, at index: Int) -> [UInt8] {
        var copy = self
        copy[index] = byte
        return copy
    }
}
