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
        // It shows a field only once.
        let fields = (["tcp.stream", "tcp.srcport", type] + (length == type ? [] : [length])).flatMap { ["-e", $0] }
        let output = try Program.output(
            "tshark", ["-r", example.capturePath, "-Y", type, "-T", "fields", "-E", "aggregator=;"] + fields)
        var seen: [Key: [Message]] = [:]
        for line in output.text.split(separator: "\n") {
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            let from = Int(columns[1]) == port ? "server" : "client"
            let key = Key(connection: try #require(Int(columns[0])) + 1, from: from)
            let (types, lengths) = (
                columns[2].split(separator: ";"), columns[fields.count / 2 - 1].split(separator: ";")
            )
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

    /// RTMP's messages: whose chunk stream each is on; and those with a whole header by type and length. The dissector shows a
    /// message in the packet in which it ends, and nothing of the type of one whose header has none.
    @Test func rtmp() throws {
        let example = Example(name: "rtmp")
        let streams = try dissected(example, port: 1935, type: "rtmpt.header.csid", length: "rtmpt.header.csid")
        let bytes = Array(try Data(contentsOf: URL(filePath: example.capturePath)))
        var found: [Key: [Message]] = [:]
        var heads: [Key: [Message]] = [:]
        for line in try DecodedCapture(bytes, options: .init(.fixed(try example.format()))).lines() {
            // 0 and 256 stand for what follows a message's first chunk.
            guard line.event == "frame", let message = line.number("message", of: "fields"), 1..<256 ~= message,
                let stream = line.number("csid", of: "fields")
            else { continue }
            let key = Key(connection: line.connection, from: line.from)
            found[key, default: []].append(Message(type: "\(stream)", length: stream))
            if let length = line.number("length", of: "fields") {
                heads[key, default: []].append(Message(type: "\(message)", length: length))
            }
        }
        #expect(found == streams)
        #expect(streams.values.reduce(0) { $0 + $1.count } > 150)
        let whole = try dissected(example, port: 1935, type: "rtmpt.header.typeid", length: "rtmpt.header.bodysize")
        #expect(
            heads
                == whole.mapValues {
                    $0.map { Message(type: "\(Int($0.type.dropFirst(2), radix: 16) ?? -1)", length: $0.length) }
                })
        #expect(whole.values.reduce(0) { $0 + $1.count } > 130)
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

    /// A protocol of another example: the dissector's names of a message's type and length, and ours. Some number takes the place of
    /// a length that the dissector does not show.
    struct Compared: CustomTestStringConvertible, Sendable {
        var example: Example
        var port: Int
        var theirs: (type: String, length: String)
        var ours: (type: String, length: String)
        var least: Int
        /// What turns our type into theirs.
        var type: @Sendable (Int) -> String = { String($0) }
        /// Connections that are not compared.
        var except: Set<Int> = []

        var testDescription: String { example.name }
    }

    static let compared = [
        Compared(
            example: Example(name: "amqp"), port: 5672, theirs: ("amqp.type", "amqp.length"), ours: ("kind", "size"),
            least: 200),
        Compared(
            example: Example(name: "kafka"), port: 9092, theirs: ("kafka.correlation_id", "kafka.len"),
            ours: ("correlation", "length"), least: 300),
        Compared(
            example: Example(name: "ldap"), port: 389, theirs: ("ldap.protocolOp", "ldap.messageID"),
            ours: ("operation", "id"), least: 230, type: { String($0 & 0x1f) }),
        Compared(
            example: Example(name: "mqtt5", format: "mqtt"), port: 1883, theirs: ("mqtt.msgtype", "mqtt.len"),
            ours: ("type", "remaining"), least: 220),
        Compared(
            example: Example(name: "websocket"), port: 80, theirs: ("websocket.opcode", "websocket.payload_length"),
            ours: ("opcode", "short"), least: 120),
        Compared(
            example: Example(name: "bittorrent"), port: 6881, theirs: ("bittorrent.msg.type", "bittorrent.msg.length"),
            ours: ("type", "length"), least: 60,
            // Its server has another port.
            except: [2]),
        Compared(
            example: Example(name: "dnp3"), port: 20_000, theirs: ("dnp3.ctl", "dnp3.len"), ours: ("control", "length"),
            least: 100, type: { "0x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }),
        Compared(
            example: Example(name: "mysql"), port: 3306, theirs: ("mysql.packet_number", "mysql.packet_length"),
            ours: ("sequence", "length"), least: 200),
    ]

    @Test(arguments: compared) func messagesAreTheDissectors(_ compared: Compared) throws {
        let port = compared.port
        let expected = try dissected(
            compared.example, port: port, type: compared.theirs.type, length: compared.theirs.length)
        let found = try decoded(compared.example, length: compared.ours.length) { line in
            line.number(compared.ours.type, of: "fields").map(compared.type)
        }
        for key in Set(expected.keys).union(found.keys) where !compared.except.contains(key.connection) {
            #expect(found[key] == expected[key], "\(key)")
        }
        #expect(expected.values.reduce(0) { $0 + $1.count } >= compared.least)
    }

    /// Requests and responses of HTTP, but for a pipelined answer to HEAD, whose length the dissector takes for a body's.
    @Test func http() throws {
        let example = Example(name: "http")
        let output = try Program.output(
            "tshark",
            ["-r", example.capturePath, "-Y", "http.request.method || http.response.code", "-T", "fields"]
                + ["tcp.stream", "http.request.method", "http.response.code"].flatMap { ["-e", $0] })
        var expected: [Int: [String]] = [:]
        for line in output.text.split(separator: "\n") {
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            let types = columns[1].isEmpty ? columns[2] : columns[1]
            expected[try #require(Int(columns[0])) + 1, default: []] += types.split(separator: ",").map(String.init)
        }
        var found: [Int: [String]] = [:]
        let bytes = Array(try Data(contentsOf: URL(filePath: example.capturePath)))
        for line in try DecodedCapture(bytes, options: .init(.fixed(try example.format()))).lines()
        where line.event == "frame" {
            found[line.connection, default: []].append(line["type"] ?? "-")
        }
        var same = 0
        for (connection, types) in expected where types.sorted() == (found[connection] ?? []).sorted() {
            same += types.count
        }
        let total = expected.values.reduce(0) { $0 + $1.count }
        #expect(total >= 95 && same >= total - 6, "\(same) of \(total)")
        #expect(found.values.reduce(0) { $0 + $1.count } == 104)
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
