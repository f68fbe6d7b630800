import Platform

/// An ascending list of event numbers: in memory while it is short, beyond that in a file.
struct NumberList: Sendable {
    private var file: TemporaryFile?
    /// The numbers that are not in the file.
    private var tail: [UInt32] = []
    private var filed = 0
    /// How many numbers are left out before the next attempt to write.
    private var skipped = 0

    /// How many numbers stay in memory, and how many are left out when they cannot be written.
    static let most = 4_096

    /// An empty list.
    ///
    /// - Parameter file: where it goes when it is long; nil: a new file.
    init(file: TemporaryFile? = nil) { self.file = file }

    /// How many there are.
    var count: Int { filed + tail.count }

    /// Adds the next number.
    ///
    /// - Throws: if there is no room for it: then it is left out, and so are the next ones, until it is worth another attempt.
    mutating func append(_ number: UInt32) throws(TemporaryFile.Failure) {
        if tail.count >= Self.most {
            if skipped > 0 {
                skipped -= 1
                throw Self.full
            }
            try write()
        }
        tail.append(number)
    }

    private static let full = TemporaryFile.Failure(description: "the disk is full")

    /// Moves what is in memory into the file.
    private mutating func write() throws(TemporaryFile.Failure) {
        skipped = Self.most
        let file: TemporaryFile
        if let known = self.file { file = known } else { file = try TemporaryFile() }
        self.file = file
        guard file.write(tail.withUnsafeBytes { Array($0) }, at: Int64(filed * 4)) else { throw Self.full }
        filed += tail.count
        tail.removeAll(keepingCapacity: true)
        skipped = 0
    }

    /// The numbers at these places, as far as there are any.
    subscript(places: Range<Int>) -> [UInt32] {
        let places = places.clamped(to: 0..<count)
        var numbers: [UInt32] = []
        let inFile = places.clamped(to: 0..<filed)
        if !inFile.isEmpty, let file {
            let bytes = file.read(inFile.count * 4, at: Int64(inFile.lowerBound * 4))
            numbers = bytes.withUnsafeBytes { raw in
                (0..<raw.count / 4).map { raw.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
            }
        }
        let inTail = places.clamped(to: filed..<count)
        return numbers + tail[inTail.lowerBound - filed..<inTail.upperBound - filed]
    }

    /// The place of the first number that is not below another one.
    func place(of number: UInt32) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if (self[middle..<middle + 1].first ?? .max) < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
