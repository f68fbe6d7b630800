// A server of lines: it returns each in capitals. Its argument is the error to make, or `none`; prints its port.

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

let bug = CommandLine.arguments.dropFirst().first ?? "none"

/// Reads what is there, and answers the lines in it.
func serve(_ sock: Int32) {
    var pending: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = read(sock, &chunk, chunk.count)
        if count <= 0 { break }
        // A buffer that is too small keeps the beginning of what comes in parts.
        if bug == "small-buffer", pending.count > 16 { pending.removeLast(pending.count - 16) }
        pending += chunk[..<count]
        var hasAnswered = false
        while let end = pending.firstIndex(of: 0x0a) {
            var line = pending[..<end].map { (0x61...0x7a).contains($0) ? $0 - 32 : $0 }
            line.append(0x0a)
            _ = write(sock, line, line.count)
            pending.removeFirst(end + 1)
            hasAnswered = true
            if bug == "second-lost" { pending = [] }
        }
        if bug == "rest-lost", hasAnswered { pending = [] }
    }
    close(sock)
}

signal(SIGPIPE, SIG_IGN)
#if os(Linux)
let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
#else
let listener = socket(AF_INET, SOCK_STREAM, 0)
#endif
var address = sockaddr_in()
address.sin_family = sa_family_t(AF_INET)
address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
var length = socklen_t(MemoryLayout<sockaddr_in>.size)
withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(listener, $0, length)
        _ = listen(listener, 64)
        _ = getsockname(listener, $0, &length)
    }
}
print(UInt16(bigEndian: address.sin_port))
fflush(stdout)
while true {
    let sock = accept(listener, nil, nil)
    let copy = sock
    var thread = pthread_t()
    pthread_create(
        &thread, nil,
        { argument in
            serve(Int32(Int(bitPattern: argument)))
            return nil
        }, UnsafeMutableRawPointer(bitPattern: Int(copy)))
    pthread_detach(thread)
}
