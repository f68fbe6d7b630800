/// The files that a format file extends, directly or not: which one a fault is in.
///
/// A place in YAML is a line and a column. So lines are counted on from file to file: those of the first file that is extended come
/// after as many as the file that extends it can have, and so on.
struct ExtendedFiles {
    /// More lines than a file can have: each takes a byte, but the last one.
    private static let lines = FormatLoader.largestFile + 2

    private var names: [String] = []

    /// Adds a file; returns how many lines are counted before its first one.
    mutating func add(_ name: String) -> Int {
        names.append(name)
        return names.count * Self.lines
    }

    /// A fault with the file that it is in, and its line there.
    func located(_ fault: FormatFileError.Fault) -> FormatFileError.Fault {
        let (files, line) = (fault.line - 1).quotientAndRemainder(dividingBy: Self.lines)
        guard names.indices.contains(files - 1) else { return fault }
        var fault = fault
        fault.file = names[files - 1]
        fault.line = line + 1
        return fault
    }
}
