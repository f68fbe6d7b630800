import Streams

/// The checksums of one kind of frame: where they are, and what their values should be.
struct FrameChecksums: Sendable {
    /// The fields before and after the body.
    let head: (any Head)?
    let trailer: BinaryHead?
    /// The keys by name; that of the format's name as "".
    var keys: [String: [UInt8]] = [:]

    /// The fields that are checksums.
    var fields: [HeaderField] {
        let head = ((head as? BinaryHead)?.fields ?? []) + ((head as? StructuredHead)?.checkedFields ?? [])
        return (head + (trailer?.fields ?? [])).filter { $0.checksum != nil }
    }

    /// The checksums of a frame, and where they are in its content.
    func places(
        head: RawSpan, shape: FrameShape, content: RawSpan
    ) -> [(HeaderField, Range<Int>, FieldChecksum)] {
        var places: [(HeaderField, Range<Int>, FieldChecksum)] = []
        func collect(_ fields: BinaryHead?, from start: Int) {
            for (index, field) in (fields?.fields ?? []).enumerated() {
                guard let checksum = field.checksum, let place = fields?.place(of: index, in: content, from: start)
                else {
                    continue
                }
                places.append((field, place, checksum))
            }
        }
        collect(self.head as? BinaryHead, from: 0)
        places += (self.head as? StructuredHead)?.checksums(in: head) ?? []
        collect(trailer, from: shape.head + shape.body)
        return places
    }

    /// Where a field's bytes begin; nil if the frame does not have it.
    private func start(ofField name: String, _ shape: FrameShape, in content: RawSpan) -> Int? {
        if let place = head?.place(ofField: name, in: content.extracting(0..<shape.head)) { return place.lowerBound }
        let tail = shape.head + shape.body
        return trailer?.place(ofField: name, in: content.extracting(tail..<content.byteCount)).map {
            tail + $0.lowerBound
        }
    }

    /// The checksum computed from the bytes it covers, with the field itself as zeros; nil if its key is not known, or if the frame
    /// does not have a field that says what it covers.
    func value(
        _ checksum: FieldChecksum, of own: HeaderField, _ field: Range<Int>, shape: FrameShape, in content: [UInt8]
    ) -> FieldValue? {
        func offset(_ place: FieldChecksum.Place) -> Int? {
            switch place {
            case .start: 0
            case .body: shape.head
            case .bodyEnd: shape.head + shape.body
            case .field: field.lowerBound
            case .named(let name): start(ofField: name, shape, in: content.span.bytes)
            }
        }
        guard let from = offset(checksum.from), let to = offset(checksum.to) else { return nil }
        var covered = content
        for at in field where at < covered.count { covered[at] = 0 }
        let bytes = covered.span.bytes.extracting(from..<max(from, to))
        if let digest = checksum.algorithm.digest {
            let key = checksum.keyName.map { keys[$0] } ?? keys[""]
            if checksum.algorithm.isKeyed, key == nil { return nil }
            let value = digest.value(of: bytes, key: checksum.algorithm.isKeyed ? key : nil)
            if case .string(let size, _) = own.kind {
                return .text(String(decoding: Base16.encode(value).prefix(size), as: UTF8.self))
            }
            return .bytes(Array(value.prefix(field.count)))
        }
        let value = checksum.algorithm.value(of: bytes)
        if case .numeral(.digits(let count, let base)) = own.kind {
            // As many digits as there are: FIX's sum modulo 256 has three.
            let values = (0..<count).reduce(UInt64(1)) { power, _ in
                power.multipliedReportingOverflow(by: UInt64(base)).0
            }
            return .unsigned(values == 0 ? value : value % values)
        }
        return .unsigned(field.count >= 8 ? value : value & (UInt64(1) << UInt64(8 * field.count) - 1))
    }

    /// Whether a checksum has its expected value: hashes in text may have digits in either case.
    static func areSame(_ found: FieldValue, _ expected: FieldValue) -> Bool {
        hex(found).lowercased() == hex(expected).lowercased()
    }

    /// A checksum's value in hexadecimal.
    static func hex(_ value: FieldValue) -> String {
        switch value {
        case .bytes(let bytes): String(decoding: Base16.encode(bytes), as: UTF8.self)
        case .text(let text): text
        default: String(value.unsignedNumber ?? 0, radix: 16)
        }
    }
}

/// The checksums that a search verifies: those without a key. Boxed, for few rules have any.
package final class SearchedChecksums: Sendable {
    /// A wrong checksum is this much evidence against a frame, in bits: not more, for the format's author may have chosen the wrong
    /// algorithm.
    private static let wrong = -8.0

    private let checksums: FrameChecksums

    /// Those of these fields; nil if there are none.
    init?(head: (any Head)?, trailer: BinaryHead?) {
        let checksums = FrameChecksums(head: head, trailer: trailer)
        guard checksums.fields.contains(where: { $0.checksum?.algorithm.isKeyed == false }) else { return nil }
        self.checksums = checksums
    }

    /// What a frame's checksums show.
    struct Finding {
        /// The evidence, in bits.
        var bits = 0.0
        /// Whether they are right; nil if none could be verified.
        var areRight: Bool?
    }

    /// Verifies a whole frame's checksums.
    func verify(_ frame: RawSpan, _ shape: FrameShape, _ background: ByteBackground) -> Finding {
        let content = frame.copied()
        let head = frame.extracting(0..<shape.head)
        var finding = Finding()
        for (field, place, checksum) in checksums.places(head: head, shape: shape, content: frame) {
            guard !checksum.algorithm.isKeyed,
                let expected = checksums.value(checksum, of: field, place, shape: shape, in: content)
            else { continue }
            let found = field.value(in: frame, at: place.lowerBound, size: place.count)
            guard FrameChecksums.areSame(found, expected) else {
                finding.bits += Self.wrong
                finding.areRight = false
                continue
            }
            finding.bits += Self.bits(frame.extracting(place), of: field, checksum, background)
            finding.areRight = finding.areRight ?? true
        }
        return finding
    }

    /// The evidence of a right checksum. Zeros among zeros are little, for most sums of zeros are zero.
    private static func bits(
        _ value: RawSpan, of field: HeaderField, _ checksum: FieldChecksum, _ background: ByteBackground
    ) -> Double {
        var bits = 0.0
        for at in 0..<value.byteCount { bits += background.numberBits(value[byte: at]) }
        // A digit is one of ten or sixteen.
        let isDigits =
            if case .unsigned = field.kind { false } else { field.isText || checksum.algorithm.digest == nil }
        if isDigits { bits /= 2.5 }
        return min(bits, Double(8 * checksum.algorithm.byteCount))
    }
}
