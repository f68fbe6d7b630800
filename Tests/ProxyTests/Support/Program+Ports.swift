import Testing

extension Program {
    private static let freePort =
        "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"
    private static let awaitPort = """
        import socket, sys, time
        for _ in range(1000):
            try:
                sys.exit(socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close())
            except OSError:
                time.sleep(0.01)
        sys.exit(1)
        """

    /// Starts a server that cannot listen on port 0: the system chooses a port, and another is tried if it has been taken since.
    ///
    /// - Parameters:
    ///   - ready: what it prints when it listens; nil if it prints nothing in time: then it is connected to.
    ///   - arguments: its arguments with a port.
    static func serving(
        _ name: String, ready: Regex<(Substring, Substring)>?, _ arguments: (_ port: Int) -> [String]
    ) async throws -> (server: Program, port: Int) {
        for _ in 0..<5 {
            let port = try #require(Int(try await run("python3", ["-c", freePort]).dropLast()))
            let server = try Program(name, arguments(port))
            if let ready {
                if (try? await server.match(ready)) != nil { return (server, port) }
            } else if try await Program("python3", ["-c", awaitPort, "\(port)"]).exitStatus() == 0 {
                return (server, port)
            }
        }
        throw Failure(description: "\(name) does not listen")
    }
}
