import Platform

/// The limit on open files and sockets of the process.
enum DescriptorLimit {
    /// Some systems do not accept an unlimited value: no more is asked for.
    static let most: UInt64 = 1 << 20

    /// Raises the limit as far as the system allows without privileges.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(CLibrary.descriptorLimit, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = min(limit.rlim_max, rlim_t(most))
        setrlimit(CLibrary.descriptorLimit, &limit)
    }

    /// The maximum number of connected clients: each takes a socket of its own and one to its server.
    static var connections: Int {
        var limit = rlimit()
        guard getrlimit(CLibrary.descriptorLimit, &limit) == 0 else { return 1_000 }
        return connections(with: UInt64(limit.rlim_cur))
    }

    /// The maximum number of connected clients with this limit.
    static func connections(with limit: UInt64) -> Int { max(1, (Int(clamping: limit) - 64) / 2) }
}
