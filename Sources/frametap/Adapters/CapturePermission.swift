import Platform

/// How to grant a process the permission to capture.
enum CapturePermission {
    /// The exact commands, in words.
    static var advice: String {
        let arguments = ([program] + CommandLine.arguments.dropFirst()).map(quoted).joined(separator: " ")
        #if os(Linux)
        return """
            give frametap the permission, once:
              sudo setcap cap_net_raw,cap_net_admin+eip \(quoted(program))
            or run this command as root:
              sudo \(arguments)
            """
        #else
        return """
            let yourself read the packet filter's devices, until the next start of the machine:
              sudo chmod o+r /dev/bpf*
            or run this command as root:
              sudo \(arguments)
            """
        #endif
    }

    /// The path of this program.
    private static var program: String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &path, path.count)
        guard length > 0 else { return CommandLine.arguments.first ?? "frametap" }
        return String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A word quoted for a shell.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "-_./:=,@+".utf8.contains(byte)
            }
        }
        return isPlain && !word.isEmpty
            ? word
            : "'"
                + word.split(separator: "'", omittingEmptySubsequences: false)
                .joined(separator: "'\\''") + "'"
    }
}
