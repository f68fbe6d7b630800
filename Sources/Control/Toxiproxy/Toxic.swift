import Framing
import Interception
import NIOHTTP1
import Streams

/// A toxic of toxiproxy: something that happens to all bytes of one direction.
struct Toxic: Hashable, Sendable {
    var name: String
    var type: String
    /// `downstream`: what the server says.
    var direction: Direction
    /// The share of connections that it applies to.
    var toxicity: Double
    /// Its numbers, all that its type has.
    var attributes: [String: Double]

    /// The types, and the numbers that each has.
    static let types: [String: [String]] = [
        "latency": ["latency", "jitter"], "bandwidth": ["rate"], "slow_close": ["delay"], "timeout": ["timeout"],
        "reset_peer": ["timeout"], "slicer": ["average_size", "size_variation", "delay"], "limit_data": ["bytes"],
    ]

    /// Reads a toxic.
    ///
    /// - Parameter known: the toxic that is changed; nil: it is a new one.
    init(_ json: JSONValue, changing known: Toxic? = nil) throws(HTTPFault) {
        guard case .object = json else { throw HTTPFault(.badRequest, "bad request body: expected an object") }
        guard let type = known?.type ?? json["type"]?.string, let names = Self.types[type] else {
            throw HTTPFault(.badRequest, "invalid toxic type")
        }
        self.type = type
        let stream = known.map { $0.stream } ?? json["stream"]?.string?.lowercased() ?? "downstream"
        switch stream {
        case "upstream": direction = .fromClient
        case "downstream": direction = .fromServer
        default: throw HTTPFault(.badRequest, "stream was invalid, can be either upstream or downstream")
        }
        name = known?.name ?? json["name"]?.string.flatMap { $0.isEmpty ? nil : $0 } ?? "\(type)_\(stream)"
        toxicity = json["toxicity"]?.double ?? known?.toxicity ?? 1
        guard (0...1).contains(toxicity) else {
            throw HTTPFault(.badRequest, "bad request body: toxicity is \(toxicity); expected 0 to 1")
        }
        attributes = known?.attributes ?? Dictionary(uniqueKeysWithValues: names.map { ($0, 0) })
        for name in names {
            guard let value = json["attributes"]?[name] else { continue }
            guard let number = value.double, number.isFinite, abs(number) < 1e12 else {
                throw HTTPFault(.badRequest, "bad request body: \(name) is \(value.compactText); expected a number")
            }
            attributes[name] = number
        }
    }

    private var stream: String { direction == .fromClient ? "upstream" : "downstream" }

    /// As the API shows it.
    var json: JSONValue {
        let names = (Self.types[type] ?? []).sorted()
        return .object([
            .init("attributes", .object(names.map { .init($0, Self.number(attributes[$0] ?? 0)) })),
            .init("name", .text(name)), .init("type", .text(type)), .init("stream", .text(stream)),
            .init("toxicity", Self.number(toxicity)),
        ])
    }

    private static func number(_ value: Double) -> JSONValue {
        .number(value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)")
    }

    /// What it does to the bytes of its direction.
    var rule: LineRule {
        func number(_ name: String) -> Double { max(0, attributes[name] ?? 0) }
        func time(_ name: String, unit: Double = 1e-3) -> Interval { .seconds(min(number(name) * unit, 1e6)) }
        let action: LinkAction
        switch type {
        case "latency":
            // Toxiproxy's jitter goes both ways.
            let (latency, jitter) = (min(number("latency"), 1e9), min(number("jitter"), 1e9))
            let least = max(0, latency - jitter)
            action = .latency(.seconds(least * 1e-3), jitter: .seconds((latency + jitter - least) * 1e-3))
        case "bandwidth": action = .rate(bytesPerSecond: Int(min(number("rate") * 1_000, 1e15)))
        case "slow_close": action = .slowClose(time("delay"))
        case "timeout": action = .timeout(number("timeout") > 0 ? time("timeout") : nil)
        case "reset_peer": action = .resetLater(time("timeout"))
        case "slicer":
            action = .slice(
                size: max(1, Int(number("average_size"))), variation: Int(number("size_variation")),
                pause: time("delay", unit: 1e-6))
        default: action = .limit(Int(number("bytes")), .fin)
        }
        return LineRule(name: name, action: action, from: direction)
    }
}

extension JSONValue {
    /// A number's value.
    var double: Double? { if case .number(let text) = self { Double(text) } else { nil } }
}
