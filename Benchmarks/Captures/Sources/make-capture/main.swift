import Captures

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

let usage = """
    usage: make-capture SHAPE FILE, where SHAPE is one of
      frames CONNECTIONS COUNT PAYLOAD   len16-id frames of 5 + PAYLOAD bytes, cut at random
      chat CONNECTIONS COUNT             im-json messages of 95 bytes and heartbeats, cut at random
      open CONNECTIONS                   one frame on each connection, none of which ends
      messages CONNECTIONS               a SYN and one im-json message on each connection, none of which ends
      text SIZE                          SIZE bytes of text that is no protocol, of one connection picked up mid-stream
      bytewise SIZE                      one im-json frame of SIZE bytes (100 or more) in segments of 1 byte
      in-order COUNT, reversed COUNT     segments of 10 bytes

    """

/// What the arguments ask for.
func shape(_ words: [String]) -> CaptureShape? {
    let numbers = words.dropFirst().compactMap { Int($0) }.filter { $0 > 0 }
    guard numbers.count == words.count - 1 else { return nil }
    switch (words.first, numbers.count) {
    case ("frames", 3): return .frames(connections: numbers[0], count: numbers[1], payload: numbers[2])
    case ("chat", 2): return .chat(connections: numbers[0], count: numbers[1])
    case ("open", 1): return .open(connections: numbers[0])
    case ("messages", 1): return .messages(connections: numbers[0])
    case ("text", 1): return .text(size: numbers[0])
    case ("bytewise", 1) where numbers[0] >= 100: return .bytewise(size: numbers[0])
    case ("in-order", 1): return .segments(count: numbers[0], reversed: false)
    case ("reversed", 1): return .segments(count: numbers[0], reversed: true)
    default: return nil
    }
}

/// Says what is wrong, and ends.
func fail(_ message: String, status: Int32) -> Never {
    _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(status)
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard let path = arguments.last, let shape = shape(arguments.dropLast()) else { fail(usage, status: 64) }
guard let file = fopen(path, "wb") else {
    fail("make-capture: \(path): \(String(cString: strerror(errno)))\n", status: 2)
}
shape.write { bytes in
    if fwrite(bytes, 1, bytes.count, file) != bytes.count {
        fail("make-capture: \(path): could not be written\n", status: 2)
    }
}
if fclose(file) != 0 { fail("make-capture: \(path): could not be written\n", status: 2) }
