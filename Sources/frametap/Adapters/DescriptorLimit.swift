import Platform

/// The limit on open files and sockets of the process.
enum DescriptorLimit {
    /// Raises the limit as far as the system allows without privileges.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(CLibrary.descriptorLimit, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        // Some systems do not accept an unlimited value.
        limit.rlim_cur = min(limit.rlim_max, 1 << 20)
        setrlimit(CLibrary.descriptorLimit, &limit)
    }

    /// The maximum number of connected clients: each takes a socket of its own and one to its server.
    static var connections: Int {
        var limit = rlimit()
        guard getrlimit(CLibrary.descriptorLimit, &limit) == 0 else { return 1_000 }
        return max(1, (Int(clamping: limit.rlim_cur) - 64) / 2)
    }
}
