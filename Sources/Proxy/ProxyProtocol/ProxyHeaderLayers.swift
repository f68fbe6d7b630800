import NIOCore
import Streams

/// Takes the header of the PROXY protocol off the beginning of what a client sends.
struct ReceivedHeaderLayer: EntryLayer {
    var needsBytes: Bool { true }

    func take(_ event: EntryEvent, of connection: inout EntryConnection) -> [EntryAction] {
        switch event {
        case .bytes:
            do {
                guard let (header, byteCount) = try connection.unread.proxyHeader() else { return [] }
                connection.unread.moveReaderIndex(forwardBy: byteCount)
                if case .named(let client, let server) = header.origin {
                    (connection.client, connection.reached, connection.isUnixClient) = (client, server, false)
                }
                return [.done]
            } catch {
                return [.close(EntryFault(error.description), isOrderly: false)]
            }
        case .ended:
            let count = connection.unread.readableBytes
            let fault = EntryFault("the client was gone after \(count) bytes of a PROXY protocol header")
            return [.close(fault, isOrderly: false)]
        case .began, .destination, .connected, .unreachable: return []
        }
    }
}

/// Sends the server a header of the PROXY protocol before anything else.
struct SentHeaderLayer: EntryLayer {
    let version: ProxyProtocolUse.Version
    var needsBytes: Bool { false }

    func take(_ event: EntryEvent, of connection: inout EntryConnection) -> [EntryAction] {
        guard case .began = event else { return [] }
        return [.sendToServer(ProxyHeader(origin: origin(connection)).bytes(version)), .done]
    }

    /// Whose connection it is.
    private func origin(_ connection: EntryConnection) -> ProxyHeader.Origin {
        let (client, reached) = (connection.client, connection.reached)
        if reached.address.isUnspecified || client.address.isUnspecified || connection.isUnixClient {
            return .connection
        }
        return .named(client: client.unmapped, server: reached.unmapped)
    }
}

extension ByteBuffer {
    /// The header that the readable bytes begin with, and its length; nil where more are needed.
    fileprivate func proxyHeader() throws(ProxyHeaderFault) -> (header: ProxyHeader, byteCount: Int)? {
        // A closure of `withUnsafeReadableBytes` cannot say what it throws.
        let result = withUnsafeReadableBytes { bytes in
            Result { () throws(ProxyHeaderFault) in try ProxyHeader.read(bytes.bytes) }
        }
        return try result.get()
    }
}
