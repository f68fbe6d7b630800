/// Frames as they are on the wire.
enum Frames {
    /// A len16-id frame: length of what follows, id, flag, and a Protobuf message of `payload` bytes (2 to 129, or
    /// 131 to 16,386), whose field 1 is a string.
    static func numbered(_ number: Int, payload: Int, into bytes: inout [UInt8]) {
        let length = payload + 3
        bytes.append(UInt8(length >> 8))
        bytes.append(UInt8(length & 255))
        bytes.append(0)
        bytes.append(UInt8(number % 7))
        bytes.append(0)
        let size = payload - (payload < 130 ? 2 : 3)
        bytes.append(0x0a)
        if size < 128 {
            bytes.append(UInt8(size))
        } else {
            bytes.append(UInt8(size & 0x7f) | 0x80)
            bytes.append(UInt8(size >> 7))
        }
        bytes.append(contentsOf: repeatElement(UInt8(ascii: "a") + UInt8(number % 26), count: size))
    }

    /// The im-json message of 95 bytes.
    static let message = chat("txt", to: "CinentB", size: 5) + Array("Hello".utf8)

    /// The heartbeat of an im-json client.
    static let heartbeat = chat("heartA", to: "", size: 7) + Array("A心跳".utf8)

    /// An im-json frame of so many bytes in all: 100 or more, and one more where no number of digits fits.
    static func sized(_ count: Int) -> [UInt8] {
        // The head names the body's size, and is longer by its digits.
        let bare = chat("txt", to: "CinentB", size: 0).count - 1
        let digits = String(count - bare - String(count).count).count
        let size = count - bare - digits
        return chat("txt", to: "CinentB", size: size) + [UInt8](repeating: UInt8(ascii: "x"), count: size)
    }

    /// Lines of words, declarations and tags, empty ones in between: no frames of anything.
    static func text(_ size: Int) -> [UInt8] {
        let words = [
            "width:", "100%;", "<div", "class=\"row\">", "function", "value", "=", "12", "return", "HTTP", "the",
        ]
        var dice = Dice(seed: 20_261_127)
        var text: [UInt8] = []
        while text.count < size {
            text += Array(words[dice.roll(words.count)].utf8)
            switch dice.roll(24) {
            case 0: text += [0x0d, 0x0a, 0x0d, 0x0a]
            case 1...3: text += [0x0d, 0x0a]
            default: text.append(0x20)
            }
        }
        return Array(text[..<size])
    }

    private static func chat(_ type: String, to target: String, size: Int) -> [UInt8] {
        Array(
            """
            {
              "type" : "\(type)",
              "CinentID" : "CinentA",
              "targetID" : "\(target)",
              "size" : "\(size)"
            }\r

            """.utf8)
    }
}
