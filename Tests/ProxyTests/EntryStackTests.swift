import NIOCore
import Streams
import TestSupport
import Testing

@testable import Proxy

/// A client's entry layers as a playbook: events, and the expected actions. No sockets.
@Suite struct EntryStackTests {
    private static let client = Endpoint(IPAddress(v4: 0xc000_0201), 40_000)
    private static let reached = Endpoint(IPAddress(v4: 0xc000_0202), 8_088)
    private static let place = Place.tcp(HostPort(host: "192.0.2.9", port: 9_000))
    private static let request: [UInt8] = [5, 1, 0, 5, 1, 0, 1, 192, 0, 2, 9, 35, 40]
    private static let header = Array("PROXY TCP4 203.0.113.1 203.0.113.2 1000 2000\r\n".utf8)
    private static let refused = ConnectFailure(cause: "Connection refused", reply: .refused)

    private func stack(_ layers: any EntryLayer...) -> EntryStack {
        EntryStack(
            layers, of: EntryConnection(client: Self.client, reached: Self.reached), patience: "3000 ms")
    }

    private func address(_ port: Int) throws -> SocketAddress { try SocketAddress(ipAddress: "192.0.2.9", port: port) }

    @Test func aFixedServerIsConnectedToAtOnce() {
        var stack = stack(FixedServerLayer(server: Self.place))
        #expect(!stack.awaitsClient && !stack.needsBytes)
        #expect(stack.begin() == [.connect(Self.place)])
        // Anything that the client does meanwhile is left to the relay.
        #expect(stack.receive(ByteBuffer(bytes: [1, 2])) == [])
        #expect(stack.take(.ended) == [])
        #expect(stack.expire() == [])
        #expect(stack.take(.connected(bound: nil)) == [.done])
        #expect(Array(stack.takeUnread().readableBytesView) == [1, 2])
        #expect(stack.take(.ended) == [], "it is over")
    }

    /// What a client had sent before its layers began belongs to the layer that wants it, or to the relay.
    @Test func earlyBytesAreTakenInTurn() {
        var fixed = stack(FixedServerLayer(server: Self.place))
        #expect(fixed.begin(with: ByteBuffer(bytes: [1, 2])) == [.connect(Self.place)])
        #expect(fixed.take(.connected(bound: nil)) == [.done])
        #expect(Array(fixed.takeUnread().readableBytesView) == [1, 2])
        var socks = stack(SOCKSLayer())
        #expect(
            socks.begin(with: ByteBuffer(bytes: Self.request + [7])) == [.sendToClient([5, 0]), .connect(Self.place)])
        #expect(Array(socks.takeUnread().readableBytesView) == [7])
    }

    @Test func aServerThatCannotBeReachedResetsTheClient() {
        var stack = stack(FixedServerLayer(server: Self.place))
        _ = stack.begin()
        let fault = EntryFault("cannot reach 192.0.2.9:9000: Connection refused")
        #expect(stack.take(.unreachable(Self.place, Self.refused)) == [.close(fault, isOrderly: false)])
    }

    @Test func aRedirectedClientGoesWhereItMeantTo() throws {
        var stack = stack(TransparentLayer(), SentHeaderLayer(version: .v1))
        #expect(stack.begin() == [.findDestination])
        let destination = try address(9_000)
        #expect(stack.take(.destination(.success(destination))) == [.connect(Self.place, address: destination)])
        let line = Array("PROXY TCP4 192.0.2.1 192.0.2.9 40000 9000\r\n".utf8)
        #expect(stack.take(.connected(bound: nil)) == [.sendToServer(line), .done])
    }

    @Test func aClientThatNobodyRedirectedIsReset() {
        var stack = stack(TransparentLayer())
        _ = stack.begin()
        let fault = EntryFault("no firewall rule")
        #expect(stack.take(.destination(.failure(fault))) == [.close(fault, isOrderly: false)])
    }

    @Test func aSOCKSClientIsAnsweredWhenTheServerIsThere() throws {
        var stack = stack(SOCKSLayer())
        #expect(stack.begin() == [] && stack.needsBytes)
        #expect(stack.receive(ByteBuffer(bytes: Self.request + [7])) == [.sendToClient([5, 0]), .connect(Self.place)])
        #expect(!stack.needsBytes)
        #expect(stack.expire() == [], "it has said what it had to say")
        let reply: [UInt8] = [5, 0, 0, 1, 192, 0, 2, 9, 0xc3, 0x50]
        #expect(stack.take(.connected(bound: try address(50_000))) == [.sendToClient(reply), .done])
        #expect(Array(stack.takeUnread().readableBytesView) == [7])
    }

    @Test func aSOCKSClientLearnsWhyThereIsNoServer() {
        var stack = stack(SOCKSLayer())
        _ = stack.begin()
        _ = stack.receive(ByteBuffer(bytes: Self.request))
        let fault = EntryFault("cannot reach 192.0.2.9:9000: Connection refused")
        #expect(
            stack.take(.unreachable(Self.place, Self.refused))
                == [.sendToClient([5, 5, 0, 1, 0, 0, 0, 0, 0, 0]), .close(fault, isOrderly: true)])
        #expect(stack.receive(ByteBuffer(bytes: [1])) == [])
    }

    /// SOCKS follows a header, and the server is sent a header of its own, however the bytes are segmented.
    @Test func layersFollowOneAnother() {
        let bytes = Self.header + Self.request + Array("early".utf8)
        for size in [1, 2, 3, 7, 100] {
            var stack = stack(ReceivedHeaderLayer(), SOCKSLayer(), SentHeaderLayer(version: .v1))
            var actions = stack.begin()
            for start in stride(from: 0, to: bytes.count, by: size) {
                actions += stack.receive(ByteBuffer(bytes: bytes[start..<min(bytes.count, start + size)]))
            }
            #expect(actions == [.sendToClient([5, 0]), .connect(Self.place)], "by \(size)")
            let reply: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]
            #expect(
                stack.take(.connected(bound: nil)) == [.sendToClient(reply), .sendToServer(Self.header), .done])
            #expect(Array(stack.takeUnread().readableBytesView) == Array("early".utf8), "by \(size)")
        }
    }

    /// A capture has IPv4-mapped addresses as IPv4, and so has the trace.
    @Test func mappedAddressesAreShownAsIPv4() {
        var connection = EntryConnection(client: Self.client, reached: Self.reached)
        connection.unread = ByteBuffer(bytes: Array("PROXY TCP6 ::ffff:1.2.3.4 ::ffff:1.2.3.5 1000 2000\r\n".utf8))
        let layer = ReceivedHeaderLayer()
        #expect(layer.take(.bytes, of: &connection) == [.done])
        #expect(connection.client == Endpoint(IPAddress(v4: 0x0102_0304), 1_000))
        #expect(connection.reached == Endpoint(IPAddress(v4: 0x0102_0305), 2_000))
    }

    @Test func whoDoesNotGoOnIsSentAway() {
        let fault = EntryFault("the client did not say who it is or where it goes within 3000 ms")
        for count in 0..<(Self.header + Self.request).count {
            var stack = stack(ReceivedHeaderLayer(), SOCKSLayer())
            _ = stack.begin()
            _ = stack.receive(ByteBuffer(bytes: (Self.header + Self.request).prefix(count)))
            #expect(stack.expire() == [.close(fault, isOrderly: false)], "after \(count) bytes")
            #expect(stack.expire() == [] && stack.take(.ended) == [], "it is over")
        }
    }

    @Test func whoGoesIsNamedByWhatItHadSaid() {
        for count in 0..<(Self.header + Self.request).count {
            var stack = stack(ReceivedHeaderLayer(), SOCKSLayer())
            _ = stack.begin()
            _ = stack.receive(ByteBuffer(bytes: (Self.header + Self.request).prefix(count)))
            let isInHeader = count < Self.header.count
            let text =
                isInHeader
                ? "the client was gone after \(count) bytes of a PROXY protocol header"
                : "the client was gone before it said which server it wants"
            #expect(stack.take(.ended) == [.close(EntryFault(text), isOrderly: !isInHeader)], "after \(count) bytes")
        }
    }

    @Test func whatIsNoHeaderIsRefused() {
        var stack = stack(ReceivedHeaderLayer(), FixedServerLayer(server: Self.place))
        _ = stack.begin()
        let actions = stack.receive(ByteBuffer(bytes: Array("GET / HTTP/1.1\r\n".utf8)))
        guard case .close(let fault, isOrderly: false)? = actions.last, actions.count == 1 else {
            Issue.record("\(actions)")
            return
        }
        #expect(fault.description.hasPrefix("no PROXY protocol header, but 47 45 54"), "\(fault)")
    }
}
