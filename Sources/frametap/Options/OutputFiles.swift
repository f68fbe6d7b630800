import ArgumentParser
import Platform

/// The files that a command reads and writes: no two of its outputs may be the same file, nor may an output be an input.
enum OutputFiles {
    /// Rejects options that name the same file, in whatever spelling, by a symbolic or a hard link.
    ///
    /// - Parameters:
    ///   - outputs: each option with its path, if it has one.
    ///   - inputs: the paths that are read; `-` is standard input.
    static func check(_ outputs: [(option: String, path: String?)], inputs: [String] = []) throws {
        var known: [(name: String, path: String, identity: Identity)] = []
        for path in inputs {
            let (name, identity) = path == "-" ? ("standard input", Identity.standardInput) : (path, Identity(path))
            if let identity { known.append((name, name, identity)) }
        }
        let readCount = known.count
        for (option, path) in outputs {
            guard let path, let identity = Identity(path) else { continue }
            if let index = known.firstIndex(where: { $0.identity == identity }) {
                let other = known[index]
                throw ValidationError(
                    index < readCount
                        ? "\(option) \(path) would overwrite a file that is read (\(other.path)); choose another one"
                        : "\(other.name) \(other.path) and \(option) \(path) are the same file; give each its own")
            }
            known.append((option, path, identity))
        }
    }

    /// Ends a command none of whose inputs can be opened, before it empties its output.
    ///
    /// Nothing is opened for this: the writer of a pipe would lose its reader.
    static func checkThere(_ inputs: [String]) throws {
        let complaints = inputs.compactMap { path -> String? in
            path == "-" || access(path, R_OK) == 0 ? nil : "cannot open \(path): \(systemError())"
        }
        guard !complaints.isEmpty, complaints.count == inputs.count else { return }
        for complaint in complaints { warn(complaint) }
        throw ExitCode(2)
    }

    /// What a path resolves to. Several outputs may share a pipe, terminal or device.
    private enum Identity: Equatable {
        case file(device: UInt64, number: UInt64)
        /// A file that does not exist yet, in a folder that does.
        case name(device: UInt64, folder: UInt64, name: String)
        case standardOutput

        /// The file that is standard input; nil if that is none.
        static var standardInput: Identity? {
            guard let status = FileStatus(ofDescriptor: STDIN_FILENO), status.kind == .regular else { return nil }
            return .file(device: status.device, number: status.number)
        }

        init?(_ path: String) {
            if path == "-" {
                self = .standardOutput
                return
            }
            if let status = FileStatus(of: path) {
                guard status.kind == .regular else { return nil }
                self = .file(device: status.device, number: status.number)
                return
            }
            // A link whose target does not exist yet is followed: creating it creates the target.
            guard let (folder, name) = Self.parts(of: Self.target(of: path, depth: 0)),
                let status = FileStatus(of: folder)
            else { return nil }
            self = .name(device: status.device, folder: status.number, name: name)
        }

        private static func target(of path: String, depth: Int) -> String {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = buffer.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { readlink(path, $0.assumingMemoryBound(to: CChar.self), bytes.count) } ?? -1
            }
            guard count > 0, depth < 40 else { return path }
            let link = String(decoding: buffer[..<count], as: UTF8.self)
            if link.hasPrefix("/") { return target(of: link, depth: depth + 1) }
            return target(of: (parts(of: path)?.folder ?? ".") + "/" + link, depth: depth + 1)
        }

        private static func parts(of path: String) -> (folder: String, name: String)? {
            guard let slash = path.lastIndex(of: "/") else { return (".", path) }
            let name = String(path[path.index(after: slash)...])
            return name.isEmpty ? nil : (String(path[...slash]), name)
        }
    }
}
