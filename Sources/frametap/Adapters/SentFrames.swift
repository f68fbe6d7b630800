import ArgumentParser
import Framing
import Replay

/// What came of the frames of `frametap send`.
struct SentFrames {
    /// What fails a check.
    struct Fault {
        /// A frame was sent, and not answered.
        static let unanswered = "unanswered"
        /// A frame could not be sent.
        static let notSent = "not-sent"

        var kind: String
        /// In words.
        var text: String
    }

    /// Whether they are sent once for each of several values.
    let isVaried: Bool
    private var attempts = 0
    private var unanswered = 0
    /// How many values there was no frame for.
    private var unbuilt = 0

    init(isVaried: Bool) { self.isVaried = isVaried }

    /// Sends all frames, as long as the connection is open, and reports those without an answer.
    ///
    /// - Parameters:
    ///   - value: what the last one is varied by.
    ///   - name: the connection's, in messages.
    ///   - report: takes what fails a check, as soon as it is known: what comes after it may end with an error.
    mutating func send(
        _ frames: FramesToSend, with value: JSONValue?, over connection: any SendingConnection, name: String?,
        report: (Fault) -> Void
    ) async throws {
        attempts += 1
        var hasMissed = false
        for place in 0..<frames.count {
            var missing: MissingAnswer?
            do {
                let bytes = try frames.bytes(of: place, with: value, answers: connection.answered)
                missing = try await connection.send(bytes)
            } catch let error as EncodingError where isVaried && place == frames.count - 1 {
                warn(Self.message(error.description, name))
                report(Fault(kind: Fault.notSent, text: error.description))
                unbuilt += 1
            } catch let error as ReplayError where hasMissed {
                // The answer that would have the value did not come.
                let text = "\(error.description); \(frames.count - place) not sent"
                warn(Self.message(text, name))
                if !isVaried { report(Fault(kind: Fault.notSent, text: text)) }
                break
            }
            guard let missing else { continue }
            let rest = connection.isOpen ? 0 : frames.count - 1 - place
            let message = frames.named(place, missing.reason) + (rest > 0 ? "; \(rest) more not sent" : "")
            warn(Self.message(message, name))
            // Variations are sent to see what comes of them.
            if !isVaried { report(Fault(kind: missing.isSent ? Fault.unanswered : Fault.notSent, text: message)) }
            unanswered += 1
            hasMissed = true
            if !connection.isOpen { break }
        }
    }

    private static func message(_ text: String, _ name: String?) -> String {
        (name.map { "\($0): " } ?? "") + text
    }

    /// Ends the program with the status that says what came of them.
    func check() throws {
        if unbuilt > 0 { throw CommandError("\(unbuilt) of \(attempts) values not sent: no frame can have them") }
        if unanswered > 0, !isVaried { throw ExitCode(1) }
    }
}
