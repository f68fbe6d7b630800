/// The errors in a format file: all of them at once, each with its location.
public struct FormatFileError: Error, Sendable, CustomStringConvertible {
    /// One error.
    public struct Fault: Hashable, Sendable, CustomStringConvertible {
        /// Line, from 1.
        public var line: Int
        /// Column, from 1.
        public var column: Int
        /// What was found, and what is expected.
        public var message: String
        /// Where it is if not in the error's file: in one that this file extends.
        public package(set) var file: String?

        /// `3:9: message`
        public var description: String { "\(line):\(column): \(message)" }
    }

    /// The file, or the built-in format.
    public var file: String
    /// The errors, in file order; those in files that it extends come last.
    public var faults: [Fault]

    /// The errors in a file.
    public init(file: String, faults: [Fault]) {
        self.file = file
        self.faults = faults
    }

    /// One line per fault: `file:3:9: message`
    public var description: String {
        faults.map { "\($0.file ?? file):\($0)" }.joined(separator: "\n")
    }
}
