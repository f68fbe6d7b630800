/// Numbers packed into few bytes, and unpacked again: what is packed is described once, for both.
///
/// A description passes each of its numbers, in the same order each time; unpacking replaces their values. What is unpacked was
/// packed by the same program: nothing is checked.
package struct PackedNumbers: Sendable {
    /// The numbers, in seven bits a byte, without the flags.
    private var bytes: [UInt8]
    /// Where the next one begins; nil while they are packed.
    private var place: Int?
    /// The time that others are close to.
    private let base: Timestamp
    /// The flags, the first in the lowest bit, and how many there are.
    private var flags: UInt64 = 0
    private var flagCount: UInt64 = 0

    /// Nothing packed yet.
    ///
    /// - Parameter base: a time that those to be packed are close to, so that they are short.
    package init(near base: Timestamp) {
        (bytes, self.base) = ([], base)
        bytes.reserveCapacity(96)
    }

    /// Numbers to unpack.
    ///
    /// - Parameter bytes: what `packed` gave, from `start` on.
    package init(_ bytes: [UInt8], from start: Int = 0, near base: Timestamp) {
        (self.bytes, self.base, place) = (bytes, base, start)
        flags = UInt64(bitPattern: next())
    }

    /// All of them.
    ///
    /// - Parameter first: what comes before them.
    package func packed(behind first: [UInt8] = []) -> [UInt8] {
        var whole: [UInt8] = []
        whole.reserveCapacity(first.count + 10 + bytes.count)
        whole += first
        whole.append(signed: Int64(bitPattern: flags))
        whole += bytes
        return whole
    }

    /// What was packed behind those that were unpacked.
    package var following: PackedNumbers { PackedNumbers(bytes, from: place ?? bytes.count, near: base) }

    /// A number: one byte if it is from -64 to 63.
    package mutating func pass(_ number: inout Int) { number = Int(truncatingIfNeeded: passed(Int64(number))) }

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

    /// A flag, in one bit; at most 64 of them.
    package mutating func pass(_ flag: inout Bool) {
        precondition(flagCount < 64, "more than 64 flags")
        if place == nil {
            if flag { flags |= 1 << flagCount }
        } else {
            flag = flags >> flagCount & 1 == 1
        }
        flagCount += 1
    }

    /// A time; one bit if it is the minimum, which often stands for none.
    package mutating func pass(_ time: inout Timestamp) {
        var isNone = time == Timestamp(nanoseconds: .min)
        pass(&isNone)
        if isNone {
            time = Timestamp(nanoseconds: .min)
        } else {
            time = Timestamp(nanoseconds: base.nanoseconds &+ passed(time.nanoseconds &- base.nanoseconds))
        }
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
