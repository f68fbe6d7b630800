import Foundation
import LineClient

/// A server for the tests: gives a token, then says each line backwards.
final class LineServer: Sendable {
    private let socket: Socket

    /// Where it listens.
    var address: String { "127.0.0.1:\(socket.port)" }

    init() throws {
        socket = try Socket(listening: ())
        let socket = socket
        Thread.detachNewThread {
            while let client = socket.accepted() { Thread.detachNewThread { Self.serve(client) } }
        }
    }

    /// Answers until the client closes. After `quit` there is no answer, and the server does not close first: a trace states who did.
    private static func serve(_ client: Socket) {
        defer { client.close() }
        while let line = try? client.readLine(), !line.isEmpty {
            if line == "quit" { continue }
            let isLogin = line.hasPrefix("login ")
            let answer = isLogin ? "token \(Int.random(in: 100_000...999_999))" : String(line.reversed())
            guard (try? client.write(answer + "\n")) != nil else { return }
        }
    }
}
