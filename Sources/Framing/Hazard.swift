/// What goes wrong at receivers that are written in a hurry: the hazards of published ones, by the names that format files use.
public enum Hazard: String, Sendable, CaseIterable {
    /// Asks for exactly 0 bytes of a body, and is never called back.
    case zeroSizeBody = "zero-size-body"
    /// Has no read outstanding behind a head that it cannot read.
    case badHead = "bad-head"
    /// Looks for a head's end without limit.
    case endlessHead = "endless-head"
    /// Keeps the head of a frame that the end of the connection cut.
    case staleHead = "stale-head"
    /// Looks at what it holds only while that is more than a header.
    case emptyBody = "empty-body"
    /// Never notices that it is out of step.
    case noMagicCheck = "no-magic-check"
    /// Waits for a body of any length.
    case noLengthLimit = "no-length-limit"
    /// Fills ids up by characters, so that a field becomes too long.
    case wideID = "wide-id"
    /// Counts characters, not bytes.
    case countsCharacters = "counts-characters"
    /// Looks at each read on its own: the rest of a frame that was cut is dropped.
    case splitFrame = "split-frame"
    /// Waits for ever for a receipt that is lost.
    case lostReceipt = "lost-receipt"
    /// Tells clients apart by the text of a read.
    case keyedByText = "keyed-by-text"
    /// Crashes where a read ends inside a character.
    case cutCharacter = "cut-character"
    /// Reads a length with its sign.
    case negativeLength = "negative-length"
    /// Appends to its buffer twice what belongs to a frame that was cut.
    case doubleAppend = "double-append"
    /// Has one buffer for all clients.
    case sharedBuffer = "shared-buffer"
    /// Acts only when its buffer holds exactly one frame.
    case mergedFrames = "merged-frames"
    /// Reads a header that is not all there.
    case shortFirstRead = "short-first-read"
    /// Does not empty its buffer behind some frames.
    case keptBuffer = "kept-buffer"
    /// Answers failure whatever happened.
    case alwaysFailure = "always-failure"
    /// Takes a read for a whole answer.
    case shortResponse = "short-response"
    /// Takes the first answer of a read, and drops the others.
    case mergedResponses = "merged-responses"
    /// Takes each read for a line.
    case perRead = "per-read"
}
