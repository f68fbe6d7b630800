/// What is wrong with a format file: all of it at once, each with its place.
public struct FormatFileError: Error, Sendable, CustomStringConvertible {
    /// One thing that is wrong.
    public struct Fault: Hashable, Sendable, CustomStringConvertible {
        /// Line, from 1.
        public var line: Int
        /// Column, from 1.
        public var column: Int
        /// What was found, and what would be right.
        public var message: String

        /// `3:9: message`
        public var description: String { "\(line):\(column): \(message)" }
    }

    /// The file, or the built-in format.
    public var file: String
    /// What is wrong, in the order of the file.
    public var faults: [Fault]

    /// What is wrong with a file.
    public init(file: String, faults: [Fault]) {
        self.file = file
        self.faults = faults
    }

    /// One line a fault: `file:3:9: message`
    public var description: String {
        faults.map { "\(file):\($0)" }.joined(separator: "\n")
    }
}
