import Crypto
import Streams

@testable import TLS

/// A client's TLS 1.3 records after a recorded handshake, sealed here: as many and as long as a test needs.
struct SealedConversation {
    private let recording: Recording
    private let hello: ClientRandom
    private let records: [[UInt8]]
    /// The recording's keys.
    var keys: KeyLog { recording.keys }

    init(records count: Int, length: Int) throws {
        recording = try Recording("tls13-TLS_AES_128_GCM_SHA256")
        let events = run(recording.connections[0], recording.keys).log.events(.fromClient)
        guard case .clientHello(let hello)? = events.first,
            let secret = recording.keys.secret(.clientTrafficSecret0, for: hello.random)
        else { throw Unusable() }
        self.hello = hello.random
        let (key, iv) = TrafficSecret(bytes: secret, hash: .sha256).keys(keyLength: 16)
        records = try (0..<count).map { number in
            let content = [UInt8](repeating: UInt8(number & 255), count: length) + [23]
            let sealed = length + 17
            let header: [UInt8] = [23, 3, 3, UInt8(sealed >> 8), UInt8(sealed & 255)]
            var nonce = iv
            for at in 0..<8 { nonce[4 + at] ^= UInt8(truncatingIfNeeded: number >> (56 - 8 * at)) }
            let box = try AES.GCM.seal(
                content, using: SymmetricKey(data: key), nonce: AES.GCM.Nonce(data: nonce), authenticating: header)
            return header + box.ciphertext + box.tag
        }
    }

    /// The handshake as recorded, then the records, some of which are missing.
    func steps(missing: Range<Int>) -> [Step] {
        let client = recording.stream(.fromClient)
        // ClientHello, ChangeCipherSpec and Finished.
        let handshake = TLSTests.records(client).prefix(3).last?.upperBound ?? 0
        let lost = records[missing].reduce(0) { $0 + $1.count }
        return [
            .bytes(Array(client[..<handshake]), .fromClient), .bytes(recording.stream(.fromServer), .fromServer),
            .bytes(records[..<missing.lowerBound].flatMap { $0 }, .fromClient), .missing(lost, .fromClient),
        ] + records[missing.upperBound...].map { .bytes($0, .fromClient) }
    }

    private struct Unusable: Error {}
}
