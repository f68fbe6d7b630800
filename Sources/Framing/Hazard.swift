import Expressions

/// A known bug of published receivers of a format.
package struct FormatHazard: Sendable {
    /// Which.
    package var hazard: Hazard
    /// The frames at which it matters, for the hazards that depend on what a frame says; nil: all.
    package var condition: Expression?
    /// Its name.
    package var name: String { hazard.rawValue }
}

/// Known bugs of receivers: those of published ones, by the names used in format files.
package enum Hazard: String, Sendable, CaseIterable {
    /// Requests exactly 0 bytes of a body, and is never called back.
    case zeroSizeBody = "zero-size-body"
    /// Has no read outstanding after a head that it cannot parse.
    case badHead = "bad-head"
    /// Searches for a head's end without limit.
    case endlessHead = "endless-head"
    /// Keeps the head of a frame truncated by the end of the connection.
    case staleHead = "stale-head"
    /// Parses its buffer only while that holds more than a header.
    case emptyBody = "empty-body"
    /// Never notices that it is out of step.
    case noMagicCheck = "no-magic-check"
    /// Waits for a body of any length.
    case noLengthLimit = "no-length-limit"
    /// Pads ids by characters, so that a field becomes too long.
    case wideID = "wide-id"
    /// Counts characters, not bytes.
    case countsCharacters = "counts-characters"
    /// Parses each read on its own: the rest of a split frame is dropped.
    case splitFrame = "split-frame"
    /// Waits forever for a lost receipt.
    case lostReceipt = "lost-receipt"
    /// Distinguishes clients by the text of a read.
    case keyedByText = "keyed-by-text"
    /// Crashes where a read ends inside a character.
    case cutCharacter = "cut-character"
    /// Reads a length as signed.
    case negativeLength = "negative-length"
    /// Appends the bytes of a split frame to its buffer twice.
    case doubleAppend = "double-append"
    /// Has one buffer for all clients.
    case sharedBuffer = "shared-buffer"
    /// Acts only when its buffer holds exactly one frame.
    case mergedFrames = "merged-frames"
    /// Parses an incomplete header.
    case shortFirstRead = "short-first-read"
    /// Does not clear its buffer after some frames.
    case keptBuffer = "kept-buffer"
    /// Answers failure whatever it has done.
    case alwaysFailure = "always-failure"
    /// Treats a read as a whole answer.
    case shortResponse = "short-response"
    /// Accepts the first answer of a read, and drops the others.
    case mergedResponses = "merged-responses"
    /// Treats each read as a line.
    case perRead = "per-read"
}
