/// Numbers packed into few bytes, and unpacked again: what is packed is described once, for both.
///
/// A description passes each of its numbers, in the same order each time; unpacking replaces their values. What is unpacked was
/// packed by the same program: nothing is checked.
package struct PackedNumbers: Sendable {
    /// A byte for the owner, then the numbers, in seven bits a byte; up to eight flags share one that comes where the first of them is.
    package private(set) var bytes: [UInt8]
    /// Where the next one begins; nil while they are packed.
    private var place: Int?
    /// The time that others are close to.
    private let base: Timestamp
    /// Where the latest flags are, and the bit of the next one.
    private var flagPlace = 0
    private var flagBit: UInt8 = 0

    /// Nothing packed yet.
    ///
    /// - Parameter base: a time that those to be packed are close to, so that they are short.
    package init(near base: Timestamp) {
        (bytes, self.base) = ([], base)
        bytes.reserveCapacity(192)
        bytes.append(0)
    }

    /// Numbers to unpack.
    ///
    /// - Parameter bytes: those of others that were packed, and perhaps more after them.
    package init(_ bytes: [UInt8], near base: Timestamp) {
        (self.bytes, self.base, place) = (bytes, base, 1)
    }

    /// A byte for the owner, which is not one of the numbers.
    package var tag: UInt8 {
        get { bytes[0] }
        set { bytes[0] = newValue }
    }

    /// How many bytes the numbers take.
    package var byteCount: Int { bytes.count - 1 }

    /// The same numbers, to be unpacked.
    package var unpacking: PackedNumbers { PackedNumbers(bytes, near: base) }

    /// Begins another part, which may have been packed apart from the others (`append`).
    package mutating func beginPart() { flagBit = 0 }

    /// Packs numbers that were packed apart from these. They are unpacked after `beginPart`.
    package mutating func append(_ other: PackedNumbers) {
        beginPart()
        bytes += other.bytes.dropFirst()
    }

    /// Nothing packed yet, to be appended to these.
    package var other: PackedNumbers { PackedNumbers(near: base) }

    /// A number: one byte if it is from -64 to 63.
    package mutating func pass(_ number: inout Int) { number = Int(truncatingIfNeeded: passed(Int64(number))) }

    /// A number: one byte if it is from -64 to 63.
    package mutating func pass(_ number: inout Int32) { number = Int32(truncatingIfNeeded: passed(Int64(number))) }

    /// A number: one byte if it is less than 64.
    package mutating func pass(_ number: inout UInt8) { number = UInt8(truncatingIfNeeded: passed(Int64(number))) }

    /// A number: one byte if it is less than 64.
    package mutating func pass(_ number: inout UInt16) { number = UInt16(truncatingIfNeeded: passed(Int64(number))) }

    /// A number: one byte if it is less than 64.
    package mutating func pass(_ number: inout UInt32) { number = UInt32(truncatingIfNeeded: passed(Int64(number))) }

    /// A number: one byte if it is less than 64.
    package mutating func pass(_ number: inout UInt64) {
        number = UInt64(bitPattern: passed(Int64(bitPattern: number)))
    }

    /// A flag, in one bit.
    package mutating func pass(_ flag: inout Bool) {
        if flagBit == 0 {
            flagPlace = place ?? bytes.count
            if place == nil { bytes.append(0) } else { place = flagPlace + 1 }
        }
        if place == nil {
            if flag { bytes[flagPlace] |= 1 << flagBit }
        } else {
            flag = flagPlace < bytes.count && bytes[flagPlace] >> flagBit & 1 == 1
        }
        flagBit = (flagBit + 1) & 7
    }

    /// A time; one bit if it is the minimum, which often stands for none. Most captures have whole microseconds.
    package mutating func pass(_ time: inout Timestamp) {
        var isNone = time == Timestamp(nanoseconds: .min)
        pass(&isNone)
        guard !isNone else {
            time = Timestamp(nanoseconds: .min)
            return
        }
        let distance = time.nanoseconds &- base.nanoseconds
        var isWhole = distance % 1_000 == 0
        pass(&isWhole)
        let packed = isWhole ? passed(distance / 1_000) &* 1_000 : passed(distance)
        time = Timestamp(nanoseconds: base.nanoseconds &+ packed)
    }

    /// Bytes, as they are.
    package mutating func pass(_ content: inout [UInt8]) {
        var count = content.count
        pass(&count)
        if let place {
            let end = min(place + max(count, 0), bytes.count)
            content = Array(bytes[place..<end])
            self.place = end
        } else {
            bytes += content
        }
    }

    private mutating func passed(_ number: Int64) -> Int64 {
        guard place == nil else { return next() }
        bytes.append(signed: number)
        return number
    }

    private mutating func next() -> Int64 {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while let at = place, at < bytes.count {
            place = at + 1
            number |= UInt64(bytes[at] & 0x7f) << shift
            guard bytes[at] & 0x80 != 0 else { break }
            shift += 7
        }
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }
}
