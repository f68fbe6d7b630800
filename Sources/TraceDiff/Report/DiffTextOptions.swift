/// How a difference is displayed.
package struct DiffTextOptions: Sendable {
    /// How many equal frames are shown around each difference.
    package var context = 3
    /// Whether both sides are shown side by side.
    package var sideBySide = false
    /// Whether to use colours.
    package var isColored = false
    /// What is not shown; nil: nothing, as the traces do not have it.
    package var hidden: HiddenValues?
    /// The maximum line width.
    package var columns = 120

    /// The defaults.
    package init() {}
}
