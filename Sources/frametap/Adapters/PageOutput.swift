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
        let (page, address) = (page, address)
        var capture: (@Sendable (Set<Int>) -> (bytes: [UInt8], isComplete: Bool))?
        if let packets { capture = { packets.capture(tool: Frametap.tool, of: $0) } }
        let save = capture
        do {
            let server = try Blocking.wait {
                try await PageServer.start(page, at: address, actions: actions, capture: save)
            }
            warn("page at \(server.address)")
            if !server.place.isLoopback {
                let rights = actions == nil ? "read this traffic" : "read this traffic, and act on it"
                warn("anybody who can reach \(server.place) and knows the token can now \(rights)")
            }
            return server
        } catch {
            throw CommandError("\(error)")
        }
    }
}
