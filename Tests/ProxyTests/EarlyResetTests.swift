import Streams
import TestSupport
import Testing

@testable import Proxy

/// A server that answers and resets as soon as a connection is there, often before the proxy has noticed that it is connected.
@Suite struct EarlyResetTests {
    private static let connections = 200

    /// Prints its port, takes that of the proxy, and counts the clients that got the answer and then the reset.
    private static let script = """
        import socket, struct, sys, threading
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        print(listener.getsockname()[1], flush=True)
        port = int(sys.stdin.readline())
        def serve():
            while True:
                server, _ = listener.accept()
                server.sendall(b"too many\\n")
                server.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                server.close()
        threading.Thread(target=serve, daemon=True).start()
        served = 0
        for _ in range(int(sys.argv[1])):
            with socket.socket() as client:
                client.settimeout(40)
                answer, was_reset = b"", False
                try:
                    client.connect(("127.0.0.1", port))
                except ConnectionResetError:
                    # It may come before connect() returns; what came before it can be read then, too.
                    was_reset = True
                try:
                    while data := client.recv(100):
                        answer += data
                except ConnectionResetError:
                    was_reset = True
                served += was_reset and answer == b"too many\\n"
        print(f"served {served}", flush=True)
        """

    @Test func theAnswerArrives() async throws {
        let ends = try Program("python3", ["-c", Self.script, "\(Self.connections)"])
        let server: Int = try #require(Int(try await ends.match(/(\d+)\n/)))
        let proxy = try await RunningProxy(to: server)
        try ends.send("\(proxy.port)")
        let served = try await ends.match(/served (\d+)\n/)
        let recording = try await proxy.stop()
        let closed = try traceLines(recording.ndjson).filter { $0.event == "closed" }
        #if os(Linux)
        #expect(served == "\(Self.connections)")
        #expect(closed.allSatisfy { $0["reason"] == "reset" && $0["by"] == "server" }, "\(recording.ndjson)")
        #expect(closed.count { $0.number("bytes", of: "server") == 9 } == Self.connections)
        #endif
        #expect(closed.count == Self.connections)
        let opened = try traceLines(recording.ndjson).filter { $0.event == "opened" }
        #expect(opened.allSatisfy { $0["server"] == "127.0.0.1:\(server)" }, "\(recording.ndjson)")
    }
}
