import Framing

/// A request of `tlv32`.
package struct Upload: Hashable, Sendable {
    /// The kind of an upload.
    package enum Command: UInt32, Sendable {
        case image = 1
        case text = 2
        case location = 3
        case voice = 4
    }

    /// The kind as the request has it: known or not.
    package var command: UInt32
    /// The payload.
    package var payload: [UInt8]

    /// An upload.
    package init(_ command: Command, _ payload: [UInt8]) {
        self.init(command: command.rawValue, payload: payload)
    }

    init(command: UInt32, payload: [UInt8]) {
        (self.command, self.payload) = (command, payload)
    }

    /// The upload in a frame.
    init?(_ frame: PeerMessage) {
        guard let command = frame["command"].flatMap(UInt32.init) else { return nil }
        self.init(command: command, payload: frame.body)
    }

    /// The request's bytes.
    package var bytes: [UInt8] {
        littleEndian(UInt32(8 + payload.count)) + littleEndian(command) + payload
    }

    /// The file name extension of such uploads: `.png`.
    package var suffix: String {
        switch Command(rawValue: command) {
        case .image: "-image.png"
        case .text: "-text.txt"
        case .location: "-location.txt"
        case .voice: "-voice.bin"
        case nil: ".bin"
        }
    }
}

/// A response of `tlv32`: 12 bytes.
package struct UploadResponse: Hashable, Sendable {
    /// The command of the request.
    package var command: UInt32
    /// Whether the upload was stored: 1 on the wire, else 0.
    package var isSuccess: Bool

    /// A response.
    package init(command: UInt32, isSuccess: Bool) {
        (self.command, self.isSuccess) = (command, isSuccess)
    }

    init?(_ frame: PeerMessage) {
        guard let command = frame["command"].flatMap(UInt32.init) else { return nil }
        self.init(command: command, isSuccess: frame["result"] == "1")
    }

    /// The response's bytes.
    package var bytes: [UInt8] { littleEndian(12) + littleEndian(command) + littleEndian(isSuccess ? 1 : 0) }
}

private func littleEndian(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}

extension Upload: CustomStringConvertible {
    /// In words: `image, 4213 B`.
    package var description: String {
        "\(Command(rawValue: command).map { "\($0)" } ?? "command \(command)"), \(payload.count) B"
    }
}
