/// How a difference is shown to people.
public struct DiffTextOptions: Sendable {
    /// How many frames that are alike are shown around each difference.
    public var context = 3
    /// Whether both sides stand beside each other.
    public var sideBySide = false
    /// Whether to use colours.
    public var isColored = false
    /// How wide a line may be.
    public var columns = 120

    /// As usual.
    public init() {}
}
