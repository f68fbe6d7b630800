// The C library, under its name on each system: whoever imports Platform has it.
#if canImport(Glibc)
@_exported import Glibc
#elseif canImport(Musl)
@_exported import Musl
#elseif canImport(Darwin)
@_exported import Darwin
#endif

/// What differs between C libraries, or has a name there that other things have, too.
package enum CLibrary {
    /// Waits for a descriptor (POSIX `poll`).
    ///
    /// - Returns: how many descriptors are ready, or -1 for an error, which `errno` has.
    package static func poll(_ descriptor: inout pollfd, milliseconds: Int32) -> Int32 {
        systemPoll(&descriptor, 1, milliseconds)
    }

    /// The number of the limit of open files, for `getrlimit` and `setrlimit`.
    #if canImport(Glibc)
    package static let descriptorLimit = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    package static let descriptorLimit = RLIMIT_NOFILE
    #endif
}

private func systemPoll(_ descriptors: UnsafeMutablePointer<pollfd>, _ count: nfds_t, _ milliseconds: Int32) -> Int32 {
    poll(descriptors, count, milliseconds)
}
