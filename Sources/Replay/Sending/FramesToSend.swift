import Framing
import Streams
import Trace

/// The frames that one side sends one after the other, from lines of JSON. Of a trace, they are that side's frames.
package struct FramesToSend: Sendable {
    private let format: Format
    private let direction: Direction
    private let variations: FrameVariations?
    private var templates: [FrameTemplate] = []
    private var skipped = (others: 0, passedOn: 0, withoutFrame: 0)

    /// The frames of lines; empty ones are skipped.
    ///
    /// - Parameter variations: what the last frame is varied by.
    /// - Throws: `ReplayError` if a line is no JSON object.
    package init(
        _ lines: [String], _ format: Format, from direction: Direction = .fromClient,
        varying variations: FrameVariations? = nil
    ) throws(ReplayError) {
        (self.format, self.direction, self.variations) = (format, direction, variations)
        for line in lines where !line.allSatisfy(\.isWhitespace) {
            let template = try FrameTemplate(line)
            if template.member("event") ?? "frame" != "frame" {
                skipped.withoutFrame += 1
            } else if template.member("from") == direction.opposite.sender {
                skipped.others += 1
            } else if template.member("leg") == Leg.out.rawValue {
                // It is the other leg's frame as the proxy passed it on.
                skipped.passedOn += 1
            } else {
                templates.append(template)
            }
        }
    }

    /// How many there are.
    package var count: Int { templates.count }

    /// Which lines are not sent; nil if all are.
    package var note: String? {
        let parts = [
            (skipped.others, Quantities.counted(skipped.others, "frame") + " of the \(direction.opposite.sender)"),
            (skipped.passedOn, Quantities.counted(skipped.passedOn, "frame") + " of the leg out"),
            (skipped.withoutFrame, Quantities.counted(skipped.withoutFrame, "line") + " without a frame"),
        ]
        let some = parts.filter { $0.0 > 0 }.map(\.1)
        return some.isEmpty ? nil : "not sent: " + some.joined(separator: ", ")
    }

    /// Builds the frames that need no answer, so that a fault is known before anything is sent.
    ///
    /// - Throws: `EncodingError` if one cannot be built; the last one, if it cannot with any of the values.
    package func check() throws {
        for place in templates.indices where !templates[place].needsAnswers {
            guard let variations, place == count - 1 else {
                _ = try bytes(of: place, answers: [])
                continue
            }
            var fault: (any Error)?
            var isBuilt = false
            for value in variations.values where !isBuilt {
                do {
                    _ = try bytes(of: place, with: value, answers: [])
                    isBuilt = true
                } catch {
                    fault = fault ?? error
                }
            }
            if let fault, !isBuilt { throw fault }
        }
    }

    /// The bytes of a frame.
    ///
    /// - Parameters:
    ///   - value: if it is the last one, which of the values it has.
    ///   - answers: what the other side has said so far.
    /// - Throws: `ReplayError` if no answer has a value that it needs, `EncodingError` if it cannot be built.
    package func bytes(of place: Int, with value: JSONValue? = nil, answers: [FrameEvent]) throws -> [UInt8] {
        let line: JSONValue
        do throws(ReplayError) { line = try templates[place].filled(from: answers) } catch {
            throw ReplayError(named(place, error.description))
        }
        do throws(EncodingError) {
            let bytes =
                if let variations, let value, place == count - 1 {
                    try variations.bytes(of: line, with: value, format, from: direction)
                } else {
                    try FrameVariations.encode(line, format, from: direction)
                }
            if bytes.isEmpty { throw EncodingError("the frame has no bytes") }
            return bytes
        } catch {
            throw EncodingError(named(place, error.description))
        }
    }

    /// A message about a frame, which it names if there are several.
    package func named(_ place: Int, _ message: String) -> String {
        count > 1 ? "frame \(place + 1): \(message)" : message
    }
}
