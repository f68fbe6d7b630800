import Control
import Page
import Proxy
import Trace

/// The page of a command, with its server.
struct PageOutput: Sendable {
    let page: Page
    private let address: HostPort

    init(at address: HostPort, isLive: Bool) throws {
        self.address = address
        do { page = try Page(isLive: isLive) } catch { throw CommandError("--web: \(error)") }
    }

    /// Where a decoder puts its trace for the page.
    func sink(source: String, hasPackets: Bool, makesReport: Bool = false) -> PageSink {
        PageSink(
            page.queue, source: source, tool: Frametap.tool, hasPackets: hasPackets, makesReport: makesReport)
    }

    /// Begins to serve the page, and prints its address.
    ///
    /// - Parameters:
    ///   - actions: what the page may do; nil: nothing.
    ///   - packets: what makes captures of connections; nil where packets are not kept.
    func serve(actions: PageActions? = nil, packets: PacketJournal? = nil) throws -> PageServer {
        let server = try start(actions: actions, packets: packets)
        Self.announce(server, acts: actions != nil)
        return server
    }

    /// The same without printing the address.
    func start(actions: PageActions? = nil, packets: PacketJournal? = nil) throws -> PageServer {
        let (page, address) = (page, address)
        var capture: (@Sendable (Set<Int>) -> (bytes: [UInt8], isComplete: Bool))?
        if let packets { capture = { packets.capture(tool: Frametap.tool, of: $0) } }
        let save = capture
        do {
            return try Blocking.wait {
                try await PageServer.start(page, at: address, actions: actions, capture: save)
            }
        } catch {
            throw CommandError("\(error)")
        }
    }

    /// Prints the address of the page, and who can now do what.
    ///
    /// - Parameter acts: whether the page may do anything.
    static func announce(_ server: PageServer, acts: Bool = false) {
        warn("page at \(server.address)")
        guard !server.place.isLoopback else { return }
        let rights = acts ? "read this traffic, and act on it" : "read this traffic"
        warn("anybody who can reach \(server.place) and knows the token can now \(rights)")
    }
}
