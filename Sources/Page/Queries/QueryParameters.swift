import Expressions
import Streams

/// Why a query is not answered.
struct PageFault: Error {
    var status: Int
    var message: String
    /// Where in a condition, from 1.
    var column: Int?

    init(_ status: Int, _ message: String, column: Int? = nil) {
        (self.status, self.message, self.column) = (status, message, column)
    }

    /// The answer.
    var json: [UInt8] {
        JSONText.object { json in
            json.member("error", message)
            json.member("status", status)
            if let column { json.member("column", column) }
        }
    }
}

/// What a query asks for.
struct QueryParameters: Sendable {
    private let values: [String: String]

    init(_ values: [String: String]) { self.values = values }

    subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// A whole number.
    func number(_ name: String, _ otherwise: Int, most: Int = .max) throws(PageFault) -> Int {
        guard let text = self[name] else { return otherwise }
        guard let number = Int(text), number >= 0 else {
            throw PageFault(400, "\(name) is \(text.prefix(40)); expected a whole number from 0 on")
        }
        return min(number, most)
    }

    /// A whole number; nil if it is not given.
    func number(_ name: String) throws(PageFault) -> Int? {
        self[name] == nil ? nil : try number(name, 0)
    }

    /// A time, in nanoseconds since 1970; nil if it is not given.
    func time(_ name: String) throws(PageFault) -> Int64? {
        guard let text = self[name] else { return nil }
        guard let time = Int64(text) else {
            throw PageFault(400, "\(name) is \(text.prefix(40)); expected nanoseconds since 1970")
        }
        return time
    }

    /// Which events a list shows.
    func searchKey(kinds: Set<EventRecord.Kind> = [.frame]) throws(PageFault) -> SearchKey {
        var key = SearchKey()
        key.filter = self["filter"] ?? ""
        key.connection = try number("connection")
        key.kinds = kinds
        if let text = self["kinds"] {
            key.kinds = []
            for name in text.split(separator: ",") {
                guard let kind = EventRecord.Kind(name: name) else {
                    let known = EventRecord.Kind.allCases.map(\.name).joined(separator: ", ")
                    throw PageFault(400, "kinds has \(name.prefix(40)); expected some of \(known)")
                }
                key.kinds.insert(kind)
            }
        }
        switch self["leg"] {
        case nil, "in": key.legs = .sent
        case "out": key.legs = .passedOn
        case "both": key.legs = .both
        case let other?: throw PageFault(400, "leg is \(other.prefix(40)); expected in, out or both")
        }
        return key
    }
}
