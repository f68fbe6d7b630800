import Streams

/// The rule `head-and-body`: a head, a delimiter, and a body whose size the head names.
///
///     head          a JSON object; never contains the delimiter
///     delimiter     as configured by `ends` (0d 0a)
///     body          as many bytes as the head's `size` field specifies
///
/// The built-in format `im-json` is one.
package struct HeadAndBody: FramingRule {
    package static let name = "head-and-body"

    /// How the head is written.
    package let head: JSONHead
    /// What ends the head.
    package let delimiter: [UInt8]
    /// The head's field that counts the body's bytes: a decimal string or a number.
    package let sizeField: String
    private let sizeMember: JSONMemberName
    /// The longest frame, in bytes.
    package let limit: Int
    /// The longest head, in bytes, delimiter included.
    package let headLimit: Int
    /// Whether the delimiter consists of control characters, which no string or number of a head contains.
    private let endsInControls: Bool

    /// A rule; `delimiter` must not be empty.
    package init(head: JSONHead, delimiter: [UInt8], sizeField: String, limit: Int, headLimit: Int) {
        self.head = head
        self.delimiter = delimiter
        self.sizeField = sizeField
        sizeMember = JSONMemberName(sizeField)
        self.limit = limit
        self.headLimit = headLimit
        endsInControls = delimiter.allSatisfy { $0 < 0x20 }
    }

    package func scan(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> FrameScan {
        let first = bytes[byte: start]
        guard first == UInt8(ascii: "{") else {
            return .bad(
                BadBytes(
                    .badHead, "expected the { of a JSON head at offset \(origin + start), found \(hex(first))",
                    explains: memory.explains))
        }
        guard let end = delimiter(in: bytes, from: start, origin: origin, memory: &memory) else {
            return bytes.byteCount - start > headLimit ? .bad(endless(at: origin + start)) : .incomplete(atLeast: 0)
        }
        let headLength = end + delimiter.count - start
        guard headLength <= headLimit else { return .bad(endless(at: origin + start)) }
        switch size(in: bytes.extracting(start..<end)) {
        case .success(let size):
            return .shape(FrameShape(head: headLength, body: size))
        case .failure(let fault):
            var bad = fault.bad
            bad.detail += " (head at offset \(origin + start))"
            if bad.byteCount != nil { bad.byteCount = headLength }
            return .bad(bad)
        }
    }

    package func frames(
        in bytes: RawSpan, from start: Int, origin: Int, memory: inout ScanMemory, _ patterns: HeadPatterns,
        into items: inout [FrameItem]
    ) -> FrameRun {
        guard endsInControls else { return FrameRun(end: start) }
        var at = start
        while at < bytes.byteCount {
            // A head that was searched before for its end is scanned: to compare it for each of its segments would take quadratic time.
            let isNew = memory.searchedTo <= origin + at
            let match = isNew ? patterns.match(bytes.extracting(0..<min(bytes.byteCount, at + headLimit)), at: at) : nil
            let shape: FrameShape
            if let match, let known = self.shape(of: match.value, at..<match.end, bytes) {
                shape = known
            } else {
                // What it refuses the framer scans again, for the reason.
                guard case .shape(let scanned) = scan(bytes, from: at, origin: origin, ended: false, memory: &memory)
                else { break }
                if isNew, match == nil { patterns.learn(bytes.extracting(at..<at + scanned.head), sizeMember) }
                shape = scanned
            }
            guard shape.total <= bytes.byteCount - at else { return FrameRun(end: at, next: shape) }
            items.append(FrameItem(start: at, shape: shape))
            at += shape.total
        }
        return FrameRun(end: at)
    }

    /// The frame whose head is like another; nil if only a scan can tell.
    ///
    /// - Parameters:
    ///   - size: where the value is that counts the body's bytes.
    ///   - head: where the head is, delimiter included.
    private func shape(of size: Range<Int>, _ head: Range<Int>, _ bytes: RawSpan) -> FrameShape? {
        guard let size = JSONHead.smallCount(at: size, in: bytes), size <= limit - head.count,
            bytes.extracting(head).firstInvalidUTF8() == nil
        else { return nil }
        return FrameShape(head: head.count, body: size)
    }

    package func inert(_ next: RawSpan, after count: Int) -> Int {
        let most = max(0, min(next.byteCount, headLimit - count))
        guard let last = delimiter.last else { return 0 }
        let before = delimiter.count - 1
        for at in 0..<most where next[byte: at] == last {
            // What is held may end with the beginning of the delimiter.
            if at < before || (0..<before).allSatisfy({ next[byte: at - before + $0] == delimiter[$0] }) { return at }
        }
        return most
    }

    package var firstBytes: ByteSet { ByteSet { $0 == UInt8(ascii: "{") } }

    package func mayStart(_ bytes: RawSpan, at start: Int) -> Bool {
        guard let end = JSONTokens.fault(bytes, at: start, within: headLimit, depthLimit: JSONScanner.headDepth)
        else { return true }
        // The body begins after the delimiter; the delimiter itself need not be JSON.
        guard end + delimiter.count <= bytes.byteCount else { return true }
        return bytes.extracting(start..<end + delimiter.count).firstRange(of: delimiter, from: 0) != nil
    }

    /// The evidence of a JSON object with a usable size, followed by the delimiter.
    package func evidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, previous: (start: Int, shape: FrameShape)?,
        _ background: ByteBackground
    ) -> Evidence? {
        var evidence = Evidence()
        // The bracket, the member's name in quotes, the colon.
        evidence.constants = 6 * Double(sizeField.utf8.count + 4)
        for byte in delimiter { evidence.constants += background.bits(byte) }
        return evidence
    }

    package func progress(_ bytes: RawSpan, shape: FrameShape?) -> String {
        guard let shape else { return "\(bytes.byteCount) head bytes without the delimiter that ends a head" }
        return "\(bytes.byteCount - shape.head) of \(shape.body) body bytes"
    }

    package func encode(_ parts: FrameParts) throws(EncodingError) -> [UInt8] {
        parts.head + delimiter + parts.body
    }

    /// The index of the first delimiter at or after `start`, without searching any byte twice.
    private func delimiter(in bytes: RawSpan, from start: Int, origin: Int, memory: inout ScanMemory) -> Int? {
        if let known = memory.delimiter, known >= origin + start { return known - origin }
        let from = max(start, memory.searchedTo - origin)
        if let found = bytes.firstRange(of: delimiter, from: from) {
            memory.delimiter = origin + found
            memory.searchedTo = origin + found + delimiter.count
            return found
        }
        memory.delimiter = nil
        memory.searchedTo = max(memory.searchedTo, origin + max(start, bytes.byteCount - delimiter.count + 1))
        return nil
    }

    private func endless(at offset: Int) -> BadBytes {
        BadBytes(.tooLong, "no end of the head at offset \(offset) within \(headLimit) bytes")
    }

    private struct Fault: Error {
        var bad: BadBytes
    }

    /// The body's size according to the head.
    private func size(in head: RawSpan) -> Result<Int, Fault> {
        func fault(_ reason: UnframedReason, _ detail: String, whole: Bool = true) -> Result<Int, Fault> {
            .failure(Fault(bad: BadBytes(reason, detail, byteCount: whole ? head.byteCount : nil)))
        }
        let value: FieldValue?
        do throws(JSONSyntaxError) {
            if let size = try self.head.smallCount(of: sizeMember, in: head),
                size <= limit - head.byteCount - delimiter.count
            {
                return .success(size)
            }
            value = try self.head.value(of: sizeMember, in: head)
        } catch {
            return fault(.badHead, "the head is not a JSON object: \(error)", whole: false)
        }
        guard let value else { return fault(.badHead, "the head has no \(sizeField)") }
        guard let number = value.decimalInteger else {
            return fault(.badLength, "\(sizeField) is \(value.shortDescription), expected a count of bytes")
        }
        switch number {
        case .negative: return fault(.badLength, "\(sizeField) is \(value.shortDescription), expected 0 or more")
        case .tooLarge: return fault(.tooLong, "\(sizeField) is \(value.shortDescription), the limit is \(limit)")
        case .value(let size):
            let (total, overflow) = size.addingReportingOverflow(head.byteCount + delimiter.count)
            guard !overflow, total <= limit else {
                return fault(.tooLong, "\(sizeField) is \(value.shortDescription), the limit is \(limit)")
            }
            return .success(size)
        }
    }

    private func hex(_ byte: UInt8) -> String {
        "0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}

extension HeadAndBody: LoadableRule {
    static let keys = KeySection.rule(
        name, "a JSON head, a delimiter that the head never contains, and a body whose size the head gives",
        [
            FormatKey("head", .words(["json"]), "how the head is written", required: true),
            FormatKey("ends", .bytes, "the delimiter after the head", required: true),
            FormatKey(
                "size", .text("a name"), "the head's field with the body's size, a number or a string of digits",
                required: true),
            .limit,
            FormatKey("headLimit", .byteCount, "the longest head, delimiter included", default: "64 KiB"),
        ])

    static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: BinaryHead?) -> FramingRules.Built? {
        if let kind = section.requiredText("head"), kind != "json" {
            section.fault("head is \(kind); \(name) knows json", at: "head")
        }
        let size = section.requiredText("size")
        let ends = section.bytes("ends")
        if section.refuseHeader(head, trailer, name) { return nil }
        let limit = section.limit
        let headLimit = section.byteCount("headLimit")
        guard let size, let ends else { return nil }
        let head = JSONHead(sizeField: size)
        return (HeadAndBody(head: head, delimiter: ends, sizeField: size, limit: limit, headLimit: headLimit), head)
    }
}
