import Framing
import Streams
import Testing

@Suite struct JT808Tests {
    let example = Example(name: "jt808")

    /// The bytes between the flags, escapes resolved as section 4.4.2 says.
    private func content(of frame: [UInt8]) -> [UInt8] {
        var content: [UInt8] = []
        var isEscaped = false
        for byte in frame.dropFirst().dropLast() {
            if isEscaped {
                content.append(byte == 2 ? 0x7e : 0x7d)
                isEscaped = false
            } else if byte == 0x7d {
                isEscaped = true
            } else {
                content.append(byte)
            }
        }
        return content
    }

    @Test func checkBytesVerify() throws {
        let format = try example.format()
        for (direction, bytes) in try example.streams() {
            let side = format.directions[direction]
            for frame in SeenFrames(bytes, side.rule).frames {
                #expect(content(of: frame.bytes).reduce(0, ^) == 0)
                side.withContent(of: frame.bytes.span.bytes, frame.shape) { content, shape in
                    let results = side.layouts[shape.layout].checksums(of: content, shape)
                    #expect(results.count == 1 && results.allSatisfy { $0.found == $0.expected })
                }
            }
        }
    }

    @Test func packagesHaveALongerHeader() throws {
        let side = try example.format().directions.fromClient
        let bytes = try #require(try example.streams().first { $0.direction == .fromClient }).bytes
        var types: [String] = []
        var packages: [Int64] = []
        for frame in SeenFrames(bytes, side.rule).frames {
            side.withContent(of: frame.bytes.span.bytes, frame.shape) { content, shape in
                types.append(side.type(of: content, shape) ?? "-")
                if case .integer(let number)? = side.field("package", of: content, shape) { packages.append(number) }
                // The header says how long the body is; the framing does not need it.
                #expect(side.field("bodyLength", of: content, shape) == .integer(Int64(shape.body)))
                #expect(side.origin(of: content, shape) == "013912345678")
            }
        }
        #expect(packages == [1, 2, 3])
        #expect(types.prefix(3) == ["register", "authenticate", "heartbeat"] && types.last == "log out")
    }

    @Test func theStandardsExampleOfEscaping() throws {
        let bytes = try #require(try example.streams().first { $0.direction == .fromClient }).bytes
        let escaped: [UInt8] = [0x30, 0x7d, 0x02, 0x08, 0x7d, 0x01, 0x55]
        #expect(bytes.indices.contains { bytes[$0...].starts(with: escaped) })
    }
}
