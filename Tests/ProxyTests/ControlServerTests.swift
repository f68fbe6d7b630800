import NIOCore
import NIOHTTP1
import Proxy
import Testing

@testable import Control

/// Clients of the control API's server that take their time, or ask for several things at once; and its own client.
@Suite struct ControlServerTests {
    /// More than the system keeps for a client that does not read.
    private static let large = [UInt8](repeating: UInt8(ascii: "~"), count: 32 << 20)

    /// Sends requests at once, and reads after a pause: prints how many bytes of bodies, how many responses, and how
    /// many bytes after the first head there are.
    private static let client = """
        import socket, sys, time
        port, requests, pause = int(sys.argv[1]), sys.argv[2].split(","), float(sys.argv[3])
        with socket.create_connection(("127.0.0.1", port), 30) as sock:
            sock.sendall("".join(f"{request} HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n" for request in requests).encode())
            time.sleep(pause)
            data = bytearray()
            try:
                while piece := sock.recv(1 << 20):
                    data += piece
            except ConnectionResetError:
                pass
        print(data.count(b"~"), data.count(b"HTTP/1.1 200 "), len(data.partition(b"\\r\\n\\r\\n")[2]))
        """

    private func seen(_ requests: String, pause: Double, _ limits: HTTPTimeLimits) async throws -> [Int] {
        let server = try await ControlServer.start(host: "127.0.0.1", port: 0, limits: limits) { request in
            switch request.path.first {
            case "large": return HTTPResponse(.ok, bytes: Self.large, contentType: "text/plain")
            case "endless":
                return HTTPResponse(contentType: "text/plain") { write in
                    while true { try await write([UInt8](repeating: UInt8(ascii: "~"), count: 1 << 16)) }
                }
            case "late":
                try? await Task.sleep(for: .seconds(1))
                return HTTPResponse(.ok, text: "late")
            default: return HTTPResponse(.ok, text: "now")
            }
        }
        defer { server.close() }
        let output = try await Program.run("python3", ["-c", Self.client, "\(server.port)", requests, "\(pause)"])
        return output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    }

    /// The time for the next request begins when the client has the response.
    @Test func aSlowClientGetsTheWholeResponse() async throws {
        var limits = HTTPTimeLimits()
        limits.pause = .milliseconds(200)
        let seen = try await seen("GET /large", pause: 1, limits)
        #expect(seen.prefix(2) == [Self.large.count, 1])
    }

    /// The time for the next request does not count once that has come.
    @Test func aRequestThatFollowsAtOnceIsAnswered() async throws {
        var limits = HTTPTimeLimits()
        limits.pause = .milliseconds(200)
        let seen = try await seen("GET /now,GET /late", pause: 0, limits)
        #expect(seen.dropFirst().first == 2)
    }

    @Test(arguments: ["/large", "/endless"]) func aClientThatTakesNothingIsLeft(_ path: String) async throws {
        var limits = HTTPTimeLimits()
        limits.stall = .milliseconds(200)
        let seen = try await seen("GET \(path)", pause: 4, limits)
        let bytes = try #require(seen.first)
        #expect(bytes > 0 && bytes < Self.large.count)
    }

    /// A request whose body of that many MiB comes in chunks, so that its head does not say how long it is: prints the status of
    /// the response.
    private static let chunked = """
        import socket, sys
        port, count = int(sys.argv[1]), int(sys.argv[2])
        chunk = b"100000\\r\\n" + b"~" * (1 << 20) + b"\\r\\n"
        with socket.create_connection(("127.0.0.1", port), 30) as sock:
            sock.sendall(b"POST / HTTP/1.1\\r\\nHost: a\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n")
            sock.sendall(chunk * count + b"0\\r\\n\\r\\n")
            print(sock.makefile("rb").readline().split()[1].decode())
        """

    @Test(arguments: [(4, "200\n"), (5, "413\n")])
    func aBodyInChunksIsBounded(_ count: Int, _ status: String) async throws {
        let server = try await ControlServer.start(host: "127.0.0.1", port: 0) { request in
            HTTPResponse(.ok, text: "\(request.body.count)")
        }
        defer { server.close() }
        let output = try await Program.run("python3", ["-c", Self.chunked, "\(server.port)", "\(count)"])
        #expect(output == status)
    }

    /// Not even the end of a body.
    @Test func nothingFollowsAHead() async throws {
        #expect(try await seen("HEAD /endless", pause: 0, HTTPTimeLimits()) == [0, 1, 0])
    }

    @Test func theClientSaysThatItReachesNobody() async throws {
        let client = ControlClient(HostPort(host: "127.0.0.1", port: 1), token: "T")
        let failure = await #expect(throws: ControlClient.Failure.self) { _ = try await client.get(["listeners"]) }
        #expect(failure?.status == nil && failure?.description.contains("cannot reach the proxy's API") == true)
    }
}
