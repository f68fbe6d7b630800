/// How a difference is displayed.
public struct DiffTextOptions: Sendable {
    /// How many equal frames are shown around each difference.
    public var context = 3
    /// Whether both sides are shown side by side.
    public var sideBySide = false
    /// Whether to use colours.
    public var isColored = false
    /// The maximum line width.
    public var columns = 120

    /// The defaults.
    public init() {}
}
