import Framing
import NIOCore
import NIOHTTP1
import NIOPosix
import Proxy

/// Sends requests to the control API of a running proxy.
package struct ControlClient: Sendable {
    private let place: HostPort
    private let token: String

    /// - Parameters:
    ///   - place: where the API listens.
    ///   - token: what the proxy printed, or was given.
    package init(_ place: HostPort, token: String) { (self.place, self.token) = (place, token) }

    /// Why a request was not answered.
    package struct Failure: Error, CustomStringConvertible {
        /// The response's status; nil if there was no response.
        package var status: Int?
        package var description: String
    }

    /// The JSON of a resource.
    ///
    /// - Parameters:
    ///   - path: below `/api/v1`, without escapes.
    ///   - query: without escapes.
    /// - Throws: `Failure` if the API refuses, or cannot be reached.
    package func get(_ path: [String], query: [(String, String)] = []) async throws -> JSONValue {
        try await send(.GET, path, query: query)
    }

    /// Posts JSON.
    package func post(_ path: [String], _ body: JSONValue) async throws { _ = try await send(.POST, path, body) }

    private func send(
        _ method: HTTPMethod, _ path: [String], query: [(String, String)] = [], _ body: JSONValue? = nil
    ) async throws -> JSONValue {
        let (status, bytes): (HTTPResponseStatus, [UInt8])
        do {
            (status, bytes) = try await exchange(method, path, query, body)
        } catch {
            throw Failure(description: "cannot reach the proxy's API at \(place): \(connectionCause(of: error))")
        }
        let json = bytes.isEmpty ? .null : (try? JSONValue(parsing: bytes.span.bytes)) ?? .null
        guard (200..<300).contains(status.code) else {
            let reason = json["error"]?.string ?? status.description
            throw Failure(status: Int(status.code), description: "the proxy's API at \(place): \(reason)")
        }
        return json
    }

    private func exchange(
        _ method: HTTPMethod, _ path: [String], _ query: [(String, String)], _ body: JSONValue?
    ) async throws -> (HTTPResponseStatus, [UInt8]) {
        var uri = "/api/v1/" + path.map(Self.escaped).joined(separator: "/")
        let pairs = query.map { "\(Self.escaped($0.0))=\(Self.escaped($0.1))" }
        if !pairs.isEmpty { uri += "?" + pairs.joined(separator: "&") }
        var headers = HTTPHeaders([
            ("Host", "\(place)"), ("Authorization", "Bearer \(token)"), ("Connection", "close"),
        ])
        let bytes = body.map { Array($0.compactText.utf8) } ?? []
        if body != nil {
            headers.add(name: "Content-Type", value: "application/json")
            headers.add(name: "Content-Length", value: "\(bytes.count)")
        }
        let response = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Response.self)
        let channel: any Channel
        do {
            channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(.seconds(10))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        try channel.pipeline.syncOperations.addHandler(ResponseHandler(response))
                    }
                }
                .connect(host: place.host, port: place.port).get()
        } catch {
            // A promise must be kept or broken: NIO stops the program otherwise.
            response.fail(error)
            throw error
        }
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: uri, headers: headers)
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        if !bytes.isEmpty {
            channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: bytes))), promise: nil)
        }
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        return try await response.futureResult.get()
    }

    /// All but unreserved characters as `%` and two hex digits (RFC 3986 section 2.1).
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            let isUnreserved = byte < 0x80 && (character.isLetter || character.isNumber || "-._~".contains(character))
            return isUnreserved ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    private typealias Response = (HTTPResponseStatus, [UInt8])

    private final class ResponseHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart

        private struct Closed: Error {}

        private var status = HTTPResponseStatus.ok
        private var body: [UInt8] = []
        private let promise: EventLoopPromise<Response>
        private var isDone = false

        init(_ promise: EventLoopPromise<Response>) { self.promise = promise }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): status = head.status
            case .body(let part): body += part.readableBytesView
            case .end:
                isDone = true
                promise.succeed((status, body))
                context.close(promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if !isDone { promise.fail(error) }
            isDone = true
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            if !isDone { promise.fail(Closed()) }
            isDone = true
        }
    }
}
