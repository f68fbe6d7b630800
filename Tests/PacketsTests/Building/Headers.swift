import Packets

/// Headers around bytes.
enum Headers {
    static let client = 0x0a00_0001
    static let server = 0x0a00_0002

    static func tcp(
        _ payload: [UInt8] = [], from source: Int = 40_000, to destination: Int = 80, sequence: UInt32 = 1,
        acknowledgment: UInt32 = 0, flags: TCPFlags = .ack, options: [UInt8] = [], window: Int = 65_535
    ) -> [UInt8] {
        big(source, 2) + big(destination, 2) + big(Int(sequence), 4) + big(Int(acknowledgment), 4)
            + [UInt8(((20 + options.count) / 4) << 4), flags.rawValue] + big(window, 2) + big(0, 4) + options + payload
    }

    static func udp(_ payload: [UInt8], to port: Int) -> [UInt8] {
        big(50_000, 2) + big(port, 2) + big(8 + payload.count, 2) + big(0, 2) + payload
    }

    static func ipv4(
        _ payload: [UInt8], protocol number: Int = 6, from source: Int = client, to destination: Int = server,
        totalLength: Int? = nil, identification: Int = 0, fragment: Int = 0, options: [UInt8] = []
    ) -> [UInt8] {
        [UInt8(0x40 | (20 + options.count) / 4), 0] + big(totalLength ?? 20 + options.count + payload.count, 2)
            + big(identification, 2) + big(fragment, 2) + [64, UInt8(number)] + big(0, 2) + big(source, 4)
            + big(destination, 4) + options + payload
    }

    static func ipv6(_ payload: [UInt8], next: Int = 6, payloadLength: Int? = nil) -> [UInt8] {
        [0x60, 0, 0, 0] + big(payloadLength ?? payload.count, 2) + [UInt8(next), 64]
            + big(0x2001_0db8, 4) + big(0, 8) + big(1, 4) + big(0x2001_0db8, 4) + big(0, 8) + big(2, 4) + payload
    }

    static func ethernet(_ payload: [UInt8], type: Int = 0x0800) -> [UInt8] {
        [UInt8](repeating: 2, count: 12) + big(type, 2) + payload
    }
}
