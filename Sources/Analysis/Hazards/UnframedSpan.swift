import Framing
import Streams

/// Unframed bytes of one direction without a frame between them, as seen by receivers that search for the next head.
struct UnframedSpan {
    /// Where it begins.
    let start: Int
    /// Where it ends so far.
    private(set) var end: Int
    /// When its last byte arrived.
    private(set) var time: Timestamp
    /// Why its first bytes belong to no frame.
    let reason: UnframedReason
    /// Where a receiver that treats anything as a head lost synchronisation; nil if it did not.
    private(set) var lostStep: Int?
    /// Where a receiver began to search for the end of a head that it has not found.
    private(set) var search: Int
    /// What it treats as a head; nil while that has no end.
    private(set) var head: PublishedHead?
    /// The first bytes searched beyond the limit for the end of a head.
    private(set) var endless: Range<Int>?
    /// Where a frame truncated by the end begins, and its head, if that was not truncated; nil if none was.
    private(set) var cut: (offset: Int, head: PublishedHead?)?
    /// Whether there is only white space so far.
    private(set) var isBlank: Bool
    /// The hazards already reported for it.
    var reported: Set<Hazard> = []

    /// - Parameter rule: how heads end; nil if they have a fixed size.
    init(_ run: UnframedRun, _ rule: HeadAndBody?) {
        (start, end, time, reason) = (run.offset, run.offset, run.time, run.reason)
        (search, isBlank) = (run.offset, true)
        add(run, rule)
    }

    /// Whether a receiver that has seen the whole stream expects a head where it begins.
    var beginsWithHead: Bool { [.badHead, .badLength, .tooLong].contains(reason) }

    /// The next bytes.
    mutating func add(_ run: UnframedRun, _ rule: HeadAndBody?) {
        if run.reason == .badHead, lostStep == nil { lostStep = run.offset }
        let isCut = run.reason == .incomplete
        if isCut, cut == nil { cut = (run.offset, nil) }
        (end, time) = (run.offset + run.byteCount, run.time)
        // Only its body follows the head of a truncated frame.
        guard let rule, !isCut || cut?.offset == run.offset else { return }
        let bytes = run.bytes.span.bytes
        var at = 0
        while let found = bytes.firstRange(of: rule.delimiter, from: at) {
            let end = run.offset + found + rule.delimiter.count
            if at == 0 {
                let read = PublishedHead(bytes.extracting(0..<found), sizeField: rule.sizeField)
                if isCut { cut?.head = read }
                if head == nil, search == start, end - start <= rule.headLimit { head = isBlank ? read : .unreadable }
            }
            look(to: end, rule)
            (at, search) = (end - run.offset, end)
            if isCut { return }
        }
        look(to: end, rule)
        isBlank = isBlank && run.bytes.allSatisfy { PublishedHead.isSpace($0) }
    }

    /// Notes the first bytes beyond the limit of the search for the end of a head.
    private mutating func look(to end: Int, _ rule: HeadAndBody) {
        if endless == nil, end - search > rule.headLimit { endless = search..<end }
    }
}

/// How a published receiver reads the bytes before the end of a head.
enum PublishedHead: Hashable {
    /// They are not a JSON object.
    case unreadable
    /// It requests this many bytes of body; 0 if the head does not specify a size.
    case asks(Int)

    init(_ bytes: RawSpan, sizeField: String) {
        var (start, end) = (0, bytes.byteCount)
        while start < end, Self.isSpace(bytes[byte: start]) { start += 1 }
        while end > start, Self.isSpace(bytes[byte: end - 1]) { end -= 1 }
        do throws(JSONSyntaxError) {
            let head = JSONHead(sizeField: sizeField)
            self = .asks(Self.number(try head.value(of: JSONMemberName(sizeField), in: bytes.extracting(start..<end))))
        } catch {
            self = .unreadable
        }
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 }

    /// The number that a text begins with, otherwise 0, as the receivers read it.
    private static func number(_ value: FieldValue?) -> Int {
        switch value {
        case .integer(let number): return Int(number)
        case .unsigned: return Int.max
        case .number(let number): return Int(exactly: number.rounded(.towardZero)) ?? 0
        case .boolean(let isTrue): return isTrue ? 1 : 0
        case .text(let text):
            let text = text.utf8.drop { Self.isSpace($0) }
            let digits = text.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
            guard text.count - digits.count <= 1 else { return 0 }
            let number = digits.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            let count = number.isEmpty ? 0 : Int(String(decoding: number, as: UTF8.self)) ?? Int.max
            return text.first == UInt8(ascii: "-") ? -count : count
        default: return 0
        }
    }
}
