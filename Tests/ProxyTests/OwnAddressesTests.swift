import NIOCore
import Streams
import Synchronization
import Testing

@testable import Proxy

/// Which addresses lead back to the proxy.
@Suite struct OwnAddressesTests {
    private func own(_ listeners: String...) throws -> OwnAddresses {
        let own = OwnAddresses { [IPAddress(v4: 0x0a00_0005), IPAddress(v6: 0xfd00 << 48, 5)] }
        for listener in listeners { own.listens(at: try SocketAddress(ipAddress: listener, port: 1_080)) }
        return own
    }

    @Test(arguments: [
        (
            "127.0.0.1", ["127.0.0.1", "0.0.0.0", "::", "::ffff:127.0.0.1"],
            ["127.0.0.2", "::1", "10.0.0.5", "10.0.0.6"]
        ),
        (
            "0.0.0.0", ["127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.5", "::ffff:10.0.0.5", "::"],
            ["10.0.0.6", "192.0.2.1"]
        ),
        (
            "::", ["::1", "127.0.0.1", "10.0.0.5", "fd00::5", "::", "0.0.0.0", "::ffff:127.0.0.1"],
            ["10.0.0.6", "fd00::6"]
        ),
        ("10.0.0.5", ["10.0.0.5", "::ffff:10.0.0.5"], ["127.0.0.1", "10.0.0.6", "0.0.0.0"]),
        ("::1", ["::1", "::", "0.0.0.0"], ["127.0.0.1", "fd00::5"]),
    ]) func whatLeadsBack(_ listener: String, _ ours: [String], _ others: [String]) throws {
        let own = try own(listener)
        for text in ours {
            #expect(own.contains(try SocketAddress(ipAddress: text, port: 1_080)), "\(text) leads to \(listener)")
            #expect(!own.contains(try SocketAddress(ipAddress: text, port: 1_081)), "\(text) has another port")
        }
        for text in others {
            #expect(!own.contains(try SocketAddress(ipAddress: text, port: 1_080)), "\(text) is not \(listener)")
        }
    }

    @Test func aConnectionThatCameBackIsKnown() throws {
        let own = try own("127.0.0.1")
        let end = Endpoint(IPAddress(v4: 0x0a00_0005), 40_000)
        let (server, other) = (Endpoint(IPAddress(v4: 0x0a00_0009), 80), Endpoint(IPAddress(v4: 0x0a00_0009), 81))
        own.connecting(from: end, to: server)
        own.connecting(from: end, to: other)
        own.disconnected(from: end, to: other)
        // An end alone is no evidence: on loopback a client often has a port that the proxy also uses.
        #expect(own.hasEnd(end) && own.hasConnection(from: end, to: server))
        #expect(!own.hasConnection(from: end, to: other))
        own.disconnected(from: end, to: server)
        #expect(!own.hasEnd(end) && !own.hasConnection(from: end, to: server))
    }

    /// A client that arrives while connections are being begun on other threads waits for those, and for no later ones.
    @Test func aClientWaitsForConnectionsThatAreBeingBegun() {
        let own = OwnAddresses { [] }
        let resumed = Mutex([Int]())
        own.whenBegun { resumed.withLock { $0.append(0) } }
        let (first, second) = (own.begins(), own.begins())
        #expect(own.isBeginning)
        own.whenBegun { resumed.withLock { $0.append(1) } }
        own.begun(first)
        let third = own.begins()
        #expect(resumed.withLock { $0 } == [0])
        own.begun(second)
        #expect(resumed.withLock { $0 } == [0, 1])
        own.begun(third)
        #expect(!own.isBeginning && resumed.withLock { $0 } == [0, 1])
    }
}
