import NIOCore
import Streams

/// Removes the PROXY protocol header from the beginning of a client's stream.
struct ReceivedHeaderLayer: EntryLayer {
    var needsBytes: Bool { true }

    func take(_ event: EntryEvent, of connection: inout EntryConnection) -> [EntryAction] {
        switch event {
        case .bytes:
            do {
                guard let (header, byteCount) = try connection.unread.proxyHeader() else { return [] }
                connection.unread.moveReaderIndex(forwardBy: byteCount)
                if case .named(let client, let server) = header.origin {
                    // As all addresses: a capture has an IPv4-mapped one as IPv4.
                    (connection.client, connection.reached) = (client.unmapped, server.unmapped)
                    connection.isUnixClient = false
                }
                return [.done]
            } catch {
                return [.close(EntryFault(error.description), isOrderly: false)]
            }
        case .ended:
            let count = connection.unread.readableBytes
            let fault = EntryFault("the client was gone after \(count) bytes of a PROXY protocol header")
            return [.close(fault, isOrderly: false)]
        default: return []
        }
    }
}

/// Sends the server a PROXY protocol header before anything else.
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
    /// The header at the beginning of the readable bytes, and its length; nil if more bytes are needed.
    fileprivate func proxyHeader() throws(ProxyHeaderFault) -> (header: ProxyHeader, byteCount: Int)? {
        // A closure of `withUnsafeReadableBytes` cannot declare the type of error it throws.
        let result = withUnsafeReadableBytes { bytes in
            Result { () throws(ProxyHeaderFault) in try ProxyHeader.read(bytes.bytes) }
        }
        return try result.get()
    }
}
