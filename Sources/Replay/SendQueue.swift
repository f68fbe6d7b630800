import DequeModule

/// What waits to be sent, in order; prompt elements come before all others. Taking one of many is as quick as of few.
struct SendQueue<Element> {
    private var prompt = Deque<Element>()
    private var others = Deque<Element>()

    /// The next one; nil if none waits.
    var first: Element? { prompt.first ?? others.first }

    /// Adds an element after all others, or after those that are prompt.
    mutating func append(_ element: Element, isPrompt: Bool = false) {
        if isPrompt { prompt.append(element) } else { others.append(element) }
    }

    /// Takes the next one.
    mutating func popFirst() -> Element? { prompt.popFirst() ?? others.popFirst() }

    /// Removes some.
    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        prompt.removeAll(where: isRemoved)
        others.removeAll(where: isRemoved)
    }
}
