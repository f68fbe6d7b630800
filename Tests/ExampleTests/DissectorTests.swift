import Foundation
import Framing
import Pipeline
import Streams
import TestSupport
import Testing

/// Frames match those that tshark's own dissectors see in the same capture: number, order, type and length.
@Suite struct DissectorTests {
    /// A direction of a connection, counted from 1.
    private struct Key: Hashable {
        var connection: Int
        var from: String
    }

    private struct Message: Hashable {
        var type: String
        var length: Int
    }

    /// The dissector's result; several messages of a packet are separated by `;`.
    private func dissected(_ example: Example, port: Int, type: String, length: String) throws -> [Key: [Message]] {
        let fields = ["tcp.stream", "tcp.srcport", type, length].flatMap { ["-e", $0] }
        let output = try Program.output(
            "tshark", ["-r", example.capturePath, "-Y", type, "-T", "fields", "-E", "aggregator=;"] + fields)
        var seen: [Key: [Message]] = [:]
        for line in output.text.split(separator: "\n") {
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            let from = Int(columns[1]) == port ? "server" : "client"
            let key = Key(connection: try #require(Int(columns[0])) + 1, from: from)
            let (types, lengths) = (columns[2].split(separator: ";"), columns[3].split(separator: ";"))
            #expect(types.count == lengths.count, "\(line)")
            seen[key, default: []] += zip(types, lengths).map { Message(type: String($0), length: Int($1) ?? -1) }
        }
        return seen
    }

    /// Frametap's result.
    private func decoded(
        _ example: Example, length: String, _ type: (TraceLine) -> String?
    ) throws -> [Key: [Message]] {
        let bytes = Array(try Data(contentsOf: URL(filePath: example.capturePath)))
        var seen: [Key: [Message]] = [:]
        for line in try DecodedCapture(bytes, options: .init(.fixed(try example.format()))).lines() {
            guard line.event == "frame", let type = type(line) else { continue }
            let length = try #require(line.number(length, of: "fields"))
            seen[Key(connection: line.connection, from: line.from), default: []].append(
                Message(type: type, length: length))
        }
        return seen
    }

    @Test func mqtt() throws {
        let example = Example(name: "mqtt")
        let expected = try dissected(example, port: 1883, type: "mqtt.msgtype", length: "mqtt.len")
        let found = try decoded(example, length: "remaining") { line in
            line.number("type", of: "fields").map(String.init)
        }
        #expect(found == expected)
        #expect(expected.values.flatMap { $0 }.count > 140)
        #expect(Set(expected.values.flatMap { $0.map(\.type) }).count == 12)
        #expect(expected.values.flatMap { $0 }.contains { $0.length > 127 })
    }

    /// The dissector's number of a type, at a field of ours; and what is added to its length to get ours.
    @Test(arguments: [
        ("dns", 53, "dns.flags.response", "kind", "dns.length", 30), ("bgp", 179, "bgp.type", "type", "bgp.length", 30),
        ("modbus", 502, "modbus.func_code", "function", "mbtcp.len", 80),
    ])
    func headsWithLengths(_ name: String, _ port: Int, _ type: String, _ field: String, _ length: String, _ least: Int)
        throws
    {
        let example = Example(name: name)
        let expected = try dissected(example, port: port, type: type, length: length)
        let found = try decoded(example, length: "length") { $0.number(field, of: "fields").map(String.init) }
        #expect(found == expected)
        #expect(expected.values.reduce(0) { $0 + $1.count } >= least)
    }

    /// Every record, however it is encrypted.
    @Test func tls() throws {
        let example = Example(name: "tls")
        let expected = try dissected(example, port: 443, type: "tls.record.version", length: "tls.record.length")
        let found = try decoded(example, length: "length") { line in
            line.number("version", of: "fields").map { "0x0" + String($0, radix: 16) }
        }
        #expect(found == expected)
        #expect(expected.values.reduce(0) { $0 + $1.count } >= 60)
        let types = try decoded(example, length: "length") { $0["type"] }.values.flatMap { $0.map(\.type) }
        #expect(Set(types) == ["handshake", "change_cipher_spec", "application_data", "alert"])
    }

    /// The dissector's names for the documentation's names, which the format file uses.
    private static let postgresqlNames = [
        "SSLRequest": "SSL request", "StartupMessage": "Startup message", "Authentication": "Authentication request",
        "ParameterStatus": "Parameter status", "BackendKeyData": "Backend key data",
        "ReadyForQuery": "Ready for query", "Query": "Simple query", "CommandComplete": "Command completion",
        "RowDescription": "Row description", "DataRow": "Data row", "ErrorResponse": "Error",
        "CopyInResponse": "CopyIn response", "CopyOutResponse": "CopyOut response", "CopyData": "Copy data",
        "CopyDone": "Copy completion", "NotificationResponse": "Notification", "NoticeResponse": "Notice",
        "EmptyQueryResponse": "Empty query", "Terminate": "Termination", "ParseComplete": "Parse completion",
        "BindComplete": "Bind completion", "NoData": "No data",
    ]

    @Test func postgresql() throws {
        let example = Example(name: "postgresql")
        var expected = try dissected(example, port: 5432, type: "pgsql.type", length: "pgsql.length")
        // The dissector parses the answers of SASL; to the framing they are all of type p.
        for (key, messages) in expected {
            expected[key] = messages.map { message in
                message.type.hasPrefix("SASL") ? Message(type: "PasswordMessage", length: message.length) : message
            }
        }
        let found = try decoded(example, length: "length") { line in
            // The dissector does not treat the one-byte answer to SSLRequest as a message.
            line["type"].flatMap { $0 == "NoTLS" ? nil : Self.postgresqlNames[$0] ?? $0 }
        }
        for key in Set(expected.keys).union(found.keys) {
            #expect(found[key] == expected[key], "\(key)")
        }
        let types = Set(expected.values.flatMap { $0.map(\.type) })
        #expect(types.count >= 28, "\(types)")
        #expect(expected.values.flatMap { $0 }.count > 200)
    }

    @Test func theAnswerToSSLRequestIsAFrame() throws {
        let example = Example(name: "postgresql")
        for (direction, bytes) in try example.streams() where direction == .fromServer {
            #expect(bytes.first == UInt8(ascii: "N"))
            let frames = SeenFrames(bytes, try example.format().directions.fromServer.rule).frames
            #expect(frames[0].bytes == [UInt8(ascii: "N")] && frames[1].bytes.first == UInt8(ascii: "R"))
        }
    }
}
