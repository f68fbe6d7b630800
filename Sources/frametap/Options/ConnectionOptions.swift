import ArgumentParser
import Packets
import Platform
import Proxy
import Streams
import Trace

/// Which connections of captures are read.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: .customLong("connection-of"),
        help: ArgumentHelp(
            "Read only the connections between these two ends, in either order: 10.0.0.1:40000-10.0.0.2:80. May be repeated.",
            valueName: "a:p-b:p"))
    var ends: [String] = []

    @Option(
        name: .customLong("host"),
        help: ArgumentHelp("Read only the connections of this address. May be repeated.", valueName: "address"))
    var hosts: [String] = []

    @Option(
        name: .customLong("index"),
        help: ArgumentHelp(
            "Look for the captures' indexes in this folder, and not beside them. With indexes, --connection-of, --host, --since and --until read only what they need.",
            valueName: "folder"), completion: .directory)
    var folder: String?

    @Flag(name: .customLong("no-index"), help: "Do not use the captures' indexes.")
    var ignoresIndexes = false

    func validate() throws {
        if folder != nil, ignoresIndexes {
            throw ValidationError("--index uses indexes and --no-index does not: expected one of them")
        }
        if let folder, FileStatus(of: folder)?.kind != .folder {
            throw ValidationError("--index \(folder): expected the folder that has the indexes")
        }
        _ = try selection()
    }

    /// Whether some connections are asked for.
    var isGiven: Bool { !ends.isEmpty || !hosts.isEmpty }

    /// The connections that are asked for.
    func selection() throws -> ConnectionSelection {
        var selection = ConnectionSelection()
        if !ends.isEmpty { selection.ends = Set(try ends.map { try Self.ends($0) }) }
        if !hosts.isEmpty { selection.hosts = Set(try hosts.map { try Self.host($0) }) }
        return selection
    }

    /// What is read of captures; nil: everything.
    ///
    /// - Parameters:
    ///   - since: connections that ended before this are not wanted.
    ///   - until: connections that began at this time or later are not wanted.
    func plan(for paths: [String], since: Timestamp?, until: Timestamp?) throws -> ReadingPlan? {
        ReadingPlan(
            ReadingPlan.Request(
                selection: try selection(), times: TimeSelection(since: since, until: until), folder: folder,
                ignoresIndexes: ignoresIndexes),
            of: paths)
    }

    /// Warns if there is none of the connections that were asked for.
    func warnOfNone(_ summary: Summary) {
        guard isGiven, summary.formats.values.allSatisfy({ $0.connections == 0 }) else { return }
        let asked = ends.map { "--connection-of \($0)" } + hosts.map { "--host \($0)" }
        warn("no connection matches \(asked.joined(separator: " "))")
    }

    private static func ends(_ text: String) throws -> ConnectionEnds {
        guard let (one, other) = endpoints(text) else {
            throw ValidationError("--connection-of is \(text); expected \(expectedEnds)")
        }
        return ConnectionEnds(one, other)
    }

    /// What the two ends of a connection look like.
    static let expectedEnds =
        "two addresses with ports, such as 10.0.0.1:40000-10.0.0.2:80 or [::1]:40000-[::1]:80"

    /// The two ends of a connection, as they are written; nil if the text is something else.
    static func endpoints(_ text: String) -> (one: Endpoint, other: Endpoint)? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let one = endpoint(parts[0]), let other = endpoint(parts[1]) else { return nil }
        return (one, other)
    }

    private static func host(_ text: String) throws -> IPAddress {
        guard let address = address(text) else {
            throw ValidationError("--host is \(text); expected an address such as 10.0.0.1 or ::1")
        }
        return address
    }

    private static func endpoint(_ text: Substring) -> Endpoint? {
        guard let place = HostPort(String(text)), let port = UInt16(exactly: place.port) else { return nil }
        return address(place.host).map { Endpoint($0, port) }
    }
    private static func address(_ text: String) -> IPAddress? {
        if let bits = InternetAddress.bits(ofIPv4: text) { return IPAddress(v4: bits) }
        return InternetAddress.halves(ofIPv6: text).map { IPAddress(v6: $0.high, $0.low) }
    }
}
