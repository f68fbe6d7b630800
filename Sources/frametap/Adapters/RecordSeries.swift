import Platform

/// The files of one record: `chat-0001.pcapng`, `chat-0002.pcapng` and so on for `chat.pcapng`.
struct RecordSeries {
    private let folder: String
    private let stem: String
    private let ending: String
    /// How many files are kept; nil: all.
    private let kept: Int?

    /// The highest number. Longer ones, such as dates, are in names of others.
    static let lastNumber = 999_999

    /// - Parameter path: the requested name.
    init(_ path: String, keep: Int?) {
        // By bytes, as the system takes names: a character may be a slash or a dot together with what follows it.
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let start = slash.map { path.utf8.index(after: $0) } ?? path.startIndex
        // A leading dot does not begin an extension.
        let dot = path.utf8[start...].dropFirst().lastIndex(of: UInt8(ascii: ".")) ?? path.endIndex
        folder = String(path[..<start])
        stem = String(path[start..<dot])
        ending = String(path[dot...])
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
            // Another run of the same series keeps the file that it is at.
            if FileOutput.isBeingRecorded(path(number)) { continue }
            if unlink(path(number)) != 0 { warn("cannot delete \(path(number)): \(systemError())") }
        }
    }

    /// The numbers of the existing files, in order.
    private func numbers() -> [Int] {
        (Folder.names(in: folder.isEmpty ? "." : folder) ?? []).compactMap(number(of:)).sorted()
    }

    private func number(of name: String) -> Int? {
        let (bytes, start, end) = (Array(name.utf8), Array((stem + "-").utf8), Array(ending.utf8))
        guard bytes.count >= start.count + 4 + end.count, bytes.starts(with: start), bytes.suffix(end.count) == end[...]
        else { return nil }
        let digits = bytes[start.count..<bytes.count - end.count]
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            // As `path` writes it.
            digits.count == 4 || digits.first != UInt8(ascii: "0"),
            let number = Int(String(decoding: digits, as: UTF8.self)), number <= Self.lastNumber
        else { return nil }
        return number
    }
}
