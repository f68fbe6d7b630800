import Platform

/// How many files and sockets the process may have open.
enum DescriptorLimit {
    /// Raises the limit to what the system allows without asking anybody.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(CLibrary.descriptorLimit, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        // Some systems refuse to have no limit at all.
        limit.rlim_cur = min(limit.rlim_max, 1 << 20)
        setrlimit(CLibrary.descriptorLimit, &limit)
    }

    /// How many clients can be connected at once: each takes a socket of its own and one to its server.
    static var connections: Int {
        var limit = rlimit()
        guard getrlimit(CLibrary.descriptorLimit, &limit) == 0 else { return 1_000 }
        return max(1, (Int(clamping: limit.rlim_cur) - 64) / 2)
    }
}
