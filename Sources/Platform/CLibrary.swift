// The C library, under its name on each system: importing Platform imports it.
#if canImport(Glibc)
@_exported import Glibc
#elseif canImport(Musl)
@_exported import Musl
#elseif canImport(Darwin)
@_exported import Darwin
#endif

/// The differences between C libraries, and functions whose names clash with other declarations.
package enum CLibrary {
    /// Waits for a descriptor (POSIX `poll`).
    ///
    /// - Returns: how many descriptors are ready, or -1 for an error, which is in `errno`.
    package static func poll(_ descriptor: inout pollfd, milliseconds: Int32) -> Int32 {
        systemPoll(&descriptor, 1, milliseconds)
    }

    /// The resource number of the limit on open files, for `getrlimit` and `setrlimit`.
    #if canImport(Glibc)
    package static let descriptorLimit = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    package static let descriptorLimit = RLIMIT_NOFILE
    #endif
}

private func systemPoll(_ descriptors: UnsafeMutablePointer<pollfd>, _ count: nfds_t, _ milliseconds: Int32) -> Int32 {
    poll(descriptors, count, milliseconds)
}
