import Platform

/// The files of one record: `chat-0001.pcapng`, `chat-0002.pcapng` and so on for `chat.pcapng`.
struct RecordSeries {
    private let folder: String
    private let stem: String
    private let ending: String
    /// How many files are kept; nil: all.
    private let kept: Int?

    /// - Parameter path: the requested name.
    init(_ path: String, keep: Int?) {
        let slash = path.lastIndex(of: "/")
        let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
        folder = slash.map { String(path[...$0]) } ?? ""
        // A leading dot does not begin an extension.
        let dot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
        stem = String(name[..<dot])
        ending = String(name[dot...])
        kept = keep
    }

    /// The path of a file by its number.
    func path(_ number: Int) -> String {
        let digits = String(number)
        return folder + stem + "-" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits + ending
    }

    /// The number after all existing ones: earlier recordings are not overwritten.
    func nextNumber() -> Int { (numbers().last ?? 0) + 1 }

    /// Deletes the oldest files until only as many are left as are kept.
    ///
    /// - Parameter current: the number of the file being written, which stays.
    func deleteOld(current: Int) {
        guard let kept else { return }
        for number in numbers().filter({ $0 < current }).dropLast(kept - 1) {
            if unlink(path(number)) != 0 { warn("cannot delete \(path(number)): \(systemError())") }
        }
    }

    /// The numbers of the existing files, in order.
    private func numbers() -> [Int] {
        (Folder.names(in: folder.isEmpty ? "." : folder) ?? []).compactMap(number(of:)).sorted()
    }

    private func number(of name: String) -> Int? {
        guard name.hasPrefix(stem + "-"), name.hasSuffix(ending) else { return nil }
        let digits = name.dropFirst(stem.utf8.count + 1).dropLast(ending.count)
        guard digits.utf8.count >= 4, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int(digits)
    }
}
