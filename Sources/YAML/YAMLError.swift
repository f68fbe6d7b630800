import CLibYAML

/// Why a text is not the YAML that is read here.
package struct YAMLError: Error, Equatable {
    /// Human-readable.
    package var message: String
    /// Where; nil if that is not known.
    package var mark: Mark?
}

extension YAMLError {
    /// The error that a parser of these bytes stopped at.
    init(_ parser: borrowing yaml_parser_t, of bytes: UnsafeBufferPointer<UInt8>) {
        guard parser.error != YAML_MEMORY_ERROR, let problem = parser.problem else {
            self.init(message: "out of memory")
            return
        }
        let isByte = parser.error == YAML_READER_ERROR
        self.init(
            message: "not YAML: \(String(cString: problem))",
            mark: isByte ? Mark(ofByte: parser.problem_offset, in: bytes) : Mark(parser.problem_mark))
    }
}

extension Mark {
    /// libyaml counts from 0.
    init(_ mark: yaml_mark_t) { self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1) }

    /// The place of a byte: libyaml has no line for those that it cannot read.
    fileprivate init(ofByte offset: Int, in bytes: UnsafeBufferPointer<UInt8>) {
        let before = bytes.prefix(offset)
        let newline = UInt8(ascii: "\n")
        let start = before.lastIndex(of: newline).map { $0 + 1 } ?? 0
        let line = before.reduce(1) { $0 + ($1 == newline ? 1 : 0) }
        self.init(line: line, column: String(decoding: before[start...], as: UTF8.self).unicodeScalars.count + 1)
    }
}
