import CLibpcap
import Platform

/// The system's libpcap, loaded when it is first needed: most commands do without, and many other libraries come with it.
enum Libpcap {
    /// Its functions, to be called through pointers; an error if it is not installed.
    static func functions() throws(LiveCaptureError) -> pcap_functions { try loaded.get().all }

    private static let loaded = Result<Functions, LiveCaptureError> { () throws(LiveCaptureError) in
        Functions(all: try load())
    }

    /// Pointers that stay what they are, since the library is never unloaded, to functions that any thread may call.
    private struct Functions: @unchecked Sendable {
        let all: pcap_functions
    }

    /// The second one is Debian's name of the same version.
    private static let names = ["libpcap.so.1", "libpcap.so.0.8"]

    private static func load() throws(LiveCaptureError) -> pcap_functions {
        if pcap_functions_are_linked() != 0 { return try find(in: nil) }
        var faults: [String] = []
        for name in names {
            if let library = dlopen(name, RTLD_NOW) { return try find(in: library) }
            faults.append(dlerror().map { String(cString: $0) } ?? name)
        }
        throw LiveCaptureError(
            kind: .noLibrary,
            message: "capturing needs libpcap, which could not be loaded: \(faults.joined(separator: "; "))\n"
                + "Install it (on Debian and Ubuntu: apt install libpcap0.8)")
    }

    /// - Parameter library: nil if the program was linked with it.
    private static func find(in library: UnsafeMutableRawPointer?) throws(LiveCaptureError) -> pcap_functions {
        let found = UnsafeMutablePointer<pcap_functions>.allocate(capacity: 1)
        defer { found.deallocate() }
        if let missing = pcap_functions_find(found, library) {
            throw LiveCaptureError(
                kind: .noLibrary,
                message: "capturing needs a newer libpcap: this one has no function \(String(cString: missing))")
        }
        return found.move()
    }
}
