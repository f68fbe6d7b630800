import Framing
import Streams

/// A connection's TLS.
public struct TLSEvent: Hashable, Sendable {
    /// Its number.
    public var connection: Int
    /// When it was known.
    public var time: Timestamp
    /// What is known about it.
    public var facts: TLSFacts

    /// The members of its line after the time, in their order.
    var members: [JSONValue.Member] {
        func text(_ text: String?) -> JSONValue { text.map { .text($0) } ?? .null }
        func list(_ texts: [String]) -> JSONValue { .array(texts.map { .text($0) }) }
        func counts(_ handshake: TLSFacts.Handshake) -> JSONValue {
            .object([
                JSONValue.Member("records", .number("\(handshake.records)")),
                JSONValue.Member("bytes", .number("\(handshake.bytes)")),
            ])
        }
        return [
            JSONValue.Member("decrypted", text(facts.decryption?.rawValue)),
            JSONValue.Member("version", text(facts.version)),
            JSONValue.Member("suite", text(facts.cipherSuite)),
            JSONValue.Member("serverName", text(facts.serverName)),
            JSONValue.Member("protocol", text(facts.applicationProtocol)),
            JSONValue.Member("offeredVersions", list(facts.offeredVersions)),
            JSONValue.Member("offeredProtocols", list(facts.offeredProtocols)),
            JSONValue.Member("clientRandom", text(facts.clientRandom)),
            JSONValue.Member("resumed", .boolean(facts.isResumed)),
            JSONValue.Member("verified", facts.isVerified.map { .boolean($0) } ?? .null),
            JSONValue.Member("certificate", facts.certificate.map { .object($0.members) } ?? .null),
            JSONValue.Member("client", counts(facts.handshake.fromClient)),
            JSONValue.Member("server", counts(facts.handshake.fromServer)),
        ]
    }
}

extension TLSFacts {
    /// Some of the members of a `tls` line, as an object in JSON.
    package func text(of names: [String]) -> String {
        let event = TLSEvent(connection: 0, time: Timestamp(nanoseconds: 0), facts: self)
        return JSONValue.object(event.members.filter { names.contains($0.name) }).compactText
    }
}

extension TLSFacts.Certificate {
    fileprivate var members: [JSONValue.Member] {
        [
            JSONValue.Member("subject", .text(subject)), JSONValue.Member("issuer", .text(issuer)),
            JSONValue.Member("names", .array(names.map { .text($0) })),
            JSONValue.Member("notBefore", .text(notBefore.rfc3339Text)),
            JSONValue.Member("notAfter", .text(notAfter.rfc3339Text)),
            JSONValue.Member("sha256", .text(sha256)),
        ]
    }

    init?(_ value: JSONValue?) {
        guard let value, let before = value["notBefore"]?.string.flatMap({ Timestamp(rfc3339: $0) }),
            let after = value["notAfter"]?.string.flatMap({ Timestamp(rfc3339: $0) })
        else { return nil }
        self.init(
            subject: value["subject"]?.string ?? "", issuer: value["issuer"]?.string ?? "",
            names: value["names"].texts, notBefore: before, notAfter: after, sha256: value["sha256"]?.string ?? "")
    }
}

extension TLSFacts {
    /// Facts from a line's members; what is missing is not known.
    package init(_ line: JSONValue) {
        self.init(by: line["decrypted"]?.string.flatMap { Decryption(rawValue: $0) })
        (version, cipherSuite) = (line["version"]?.string, line["suite"]?.string)
        (serverName, applicationProtocol) = (line["serverName"]?.string, line["protocol"]?.string)
        (offeredVersions, offeredProtocols) = (line["offeredVersions"].texts, line["offeredProtocols"].texts)
        clientRandom = line["clientRandom"]?.string
        (isResumed, isVerified) = (line["resumed"]?.boolean ?? false, line["verified"]?.boolean)
        certificate = line["certificate"].flatMap { Certificate($0) }
        for direction in Direction.allCases {
            let counts = line[direction.sender]
            handshake[direction] = Handshake(
                records: counts?["records"]?.integer ?? 0, bytes: counts?["bytes"]?.integer ?? 0)
        }
    }

    /// The line's members without the connection as JSON: how a recording annotates a packet.
    package func annotation(at time: Timestamp) -> String {
        let event = TLSEvent(connection: 0, time: time, facts: self)
        return JSONValue.object([JSONValue.Member("time", .text(time.rfc3339Text))] + event.members).compactText
    }

    /// Facts, and their time, from an annotation; nil if it is not one.
    package static func read(annotation text: String) -> (facts: TLSFacts, time: Timestamp)? {
        let bytes = Array(text.utf8)
        guard let value = try? JSONValue(parsing: bytes.span.bytes), let stamp = value["time"]?.string,
            let time = Timestamp(rfc3339: stamp)
        else { return nil }
        return (TLSFacts(value), time)
    }
}

extension Timestamp {
    /// The instant as RFC 3339 text.
    var rfc3339Text: String {
        var (text, bytes) = (TimestampText(), [UInt8]())
        text.rfc3339(self, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension JSONValue? {
    /// The texts in an array; empty if it is none.
    fileprivate var texts: [String] {
        guard case .array(let values)? = self else { return [] }
        return values.compactMap(\.string)
    }
}
