import Foundation
import Framing
import Packets
import Streams
import TestSupport
import Testing

/// A protocol of docs/examples, with a capture of the real program.
struct Example: CustomTestStringConvertible, Sendable {
    /// The capture's name.
    let name: String
    /// The format file's name.
    let formatName: String

    init(name: String, format: String? = nil) { (self.name, formatName) = (name, format ?? name) }

    /// Every example, and the captures that some have besides.
    static let all =
        ExampleFormats.names.map { Example(name: $0) } + [
            Example(name: "mqtt5", format: "mqtt"), Example(name: "resp3", format: "redis"),
            Example(name: "websocket-long", format: "websocket"),
        ]
    /// Those that change to TLS, whose records are not frames.
    static let changeToTLS = ["ldap", "mysql", "smtp"]
    /// Those whose programs were made to do something wrong: the kinds of findings that they have.
    static let findings: [String: Set<String>] = [
        "tls": ["tls-failed"], "fix": ["bad-checksum"], "dnp3": ["bad-body"], "mqtt5": ["reconnect-storm"],
        "nats": ["unanswered"], "stomp": ["reconnect-storm", "unanswered"],
    ]
    static let root = URL(filePath: #filePath).appending(path: "../../..").standardized.path

    var testDescription: String { name }
    var formatPath: String { "\(Self.root)/docs/examples/\(formatName).yaml" }
    var capturePath: String { "\(Self.root)/fixtures/examples/\(name).pcap" }

    func format() throws -> Format {
        try FormatLoader.load(try String(contentsOfFile: formatPath, encoding: .utf8), file: formatPath)
    }

    /// Every stream of the capture that has bytes.
    func streams() throws -> [(direction: Direction, bytes: [UInt8])] {
        let log = StreamEventLog()
        var capture = CaptureDecoder(receiver: log)
        var reader = CaptureReader(CaptureBytes(Array(try Data(contentsOf: URL(filePath: capturePath)))))
        try reader.read(to: &capture)
        capture.finish()
        return (1...capture.connectionCount).flatMap { number in
            Direction.allCases.map { ($0, log.bytes(of: number, from: $0)) }
        }.filter { !$0.bytes.isEmpty }
    }
}

extension Example {
    /// What arrived on each connection, in order.
    func conversations() throws -> [[(direction: Direction, bytes: [UInt8])]] {
        let log = StreamEventLog()
        var capture = CaptureDecoder(receiver: log)
        var reader = CaptureReader(CaptureBytes(Array(try Data(contentsOf: URL(filePath: capturePath)))))
        try reader.read(to: &capture)
        capture.finish()
        var chunks: [Int: [(direction: Direction, bytes: [UInt8])]] = [:]
        for case .received(let connection, let direction, let bytes, _, _) in log.events {
            chunks[connection, default: []].append((direction, bytes))
        }
        return chunks.sorted { $0.key < $1.key }.map(\.value)
    }
}

/// The frames of both directions of a connection.
final class SeenConversation: FrameReceiver {
    private(set) var frames = PerDirection<[SeenFrame]>(fromClient: [], fromServer: [])
    private(set) var unframed: [String] = []

    /// Frames what arrived, each chunk in pieces.
    init(
        _ format: Format, _ chunks: [(direction: Direction, bytes: [UInt8])], cut: (_ count: Int) -> [Int] = { _ in [] }
    ) {
        let scratch = FramingScratch()
        var framers = format.framers()
        for (direction, bytes) in chunks {
            let bounds = [0] + cut(bytes.count).sorted() + [bytes.count]
            for (start, end) in zip(bounds, bounds.dropFirst()) where start < end {
                let piece = bytes.span.bytes.extracting(start..<end)
                framers[direction].receive(
                    piece, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: self)
            }
        }
        for direction in Direction.allCases { framers[direction].finish(scratch: scratch, into: self) }
    }

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
        frames[direction].append(SeenFrame(offset: frame.offset, shape: frame.shape, bytes: bytes.copied()))
    }

    func unframed(_ run: UnframedRun, from direction: Direction) {
        unframed.append("\(direction): \(run.bytes.count) bytes at \(run.offset): \(run.detail)")
    }

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
}

/// A frame with its bytes.
struct SeenFrame: Hashable {
    var offset: Int
    var shape: FrameShape
    var bytes: [UInt8]
}

/// The frames of a stream.
final class SeenFrames: FrameReceiver {
    private(set) var frames: [SeenFrame] = []
    private(set) var unframed: [String] = []

    /// Frames bytes that are split at some offsets.
    init(_ bytes: [UInt8], cuts: [Int] = [], _ rule: any FramingRule) {
        let scratch = FramingScratch()
        var framer = Framer(rule: rule, direction: .fromClient, aligned: true)
        let bounds = [0] + cuts + [bytes.count]
        for (start, end) in zip(bounds, bounds.dropFirst()) where start < end {
            let chunk = bytes.span.bytes.extracting(start..<end)
            framer.receive(chunk, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: self)
        }
        framer.finish(scratch: scratch, into: self)
    }

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
        frames.append(SeenFrame(offset: frame.offset, shape: frame.shape, bytes: bytes.copied()))
    }

    func unframed(_ run: UnframedRun, from direction: Direction) {
        unframed.append("\(run.bytes.count) bytes at \(run.offset): \(run.detail)")
    }

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
}

/// Runs programs until they exit.
enum Program {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    struct Result {
        var status: Int32
        var output: [UInt8]
        var errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// The path of a program; without it the test is left out.
    static func find(_ name: String) throws -> URL { try InstalledPrograms.find(name) }

    /// Runs a program with these bytes on its standard input.
    static func run(_ name: String, _ arguments: [String], input: [UInt8] = []) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("frametap-examples-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        func file(_ name: String, _ bytes: [UInt8]) throws -> FileHandle {
            let url = folder.appendingPathComponent(name)
            try Data(bytes).write(to: url)
            return try FileHandle(forUpdating: url)
        }
        let process = Process()
        process.executableURL = try find(name)
        process.arguments = arguments
        process.standardInput = try file("input", input)
        process.standardOutput = try file("output", [])
        process.standardError = try file("errors", [])
        try process.run()
        process.waitUntilExit()
        let read = { Array(try Data(contentsOf: folder.appendingPathComponent($0))) }
        return Result(
            status: process.terminationStatus, output: try read("output"),
            errors: String(decoding: try read("errors"), as: UTF8.self))
    }

    /// Checks format files with `tools/check-formats`; without the libraries that it needs, the test is left out.
    static func checkFormats(_ files: [String] = []) throws -> Result {
        _ = try find("python3")
        let result = try run("\(Example.root)/tools/check-formats", files)
        if result.errors.hasPrefix("check-formats needs ") {
            try InstalledPrograms.leaveOut(needing: "jsonschema and PyYAML for Python")
        }
        return result
    }

    /// Checks traces with `tools/check-trace`; without the libraries that it needs, the test is left out.
    static func checkTraces(_ files: [String]) throws -> Result {
        _ = try find("python3")
        let result = try run("\(Example.root)/tools/check-trace", files)
        if result.errors.hasPrefix("check-trace needs ") {
            try InstalledPrograms.leaveOut(needing: "jsonschema and PyYAML for Python")
        }
        return result
    }

    /// Runs a program that must succeed.
    static func output(_ name: String, _ arguments: [String], input: [UInt8] = []) throws -> Result {
        let result = try run(name, arguments, input: input)
        guard result.status == 0 else {
            throw Failure(description: "\(name) \(arguments) ended with \(result.status): \(result.errors)")
        }
        return result
    }
}

/// A temporary file for one test.
final class TemporaryFile {
    let path: String

    init(_ bytes: [UInt8], name: String = "file") throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("frametap-\(UUID())-\(name)").path
        try Data(bytes).write(to: URL(filePath: path))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
