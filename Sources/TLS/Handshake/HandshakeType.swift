/// The handshake messages that matter here (RFC 8446 section 4, RFC 5246 section 7.4).
enum HandshakeType {
    static let helloRequest: UInt8 = 0
    static let clientHello: UInt8 = 1
    static let serverHello: UInt8 = 2
    static let newSessionTicket: UInt8 = 4
    static let endOfEarlyData: UInt8 = 5
    static let encryptedExtensions: UInt8 = 8
    static let certificate: UInt8 = 11
    static let certificateRequest: UInt8 = 13
    static let finished: UInt8 = 20
    static let keyUpdate: UInt8 = 24

    /// The longest message that is put together: certificate chains are the long ones.
    static let longestMessage = 1 << 20
}

/// A whole handshake message.
struct HandshakeMessage: Equatable {
    /// Its `msg_type`.
    let type: UInt8
    /// Its body, after type and length.
    let body: ArraySlice<UInt8>
}
