/// What waits to be sent, in order; prompt elements come before all others. Taking one of many is as quick as of few.
struct SendQueue<Element> {
    private var prompt = Line()
    private var others = Line()

    /// One after the other.
    private struct Line {
        private var elements: [Element] = []
        /// How many at the beginning were taken: they are removed together.
        private var taken = 0

        var first: Element? { taken < elements.count ? elements[taken] : nil }

        mutating func append(_ element: Element) { elements.append(element) }

        mutating func removeFirst() {
            taken += 1
            guard taken * 2 >= elements.count else { return }
            elements.removeFirst(taken)
            taken = 0
        }

        mutating func removeAll(where isRemoved: (Element) -> Bool) {
            elements.removeFirst(taken)
            taken = 0
            elements.removeAll(where: isRemoved)
        }
    }

    /// The next one; nil if none waits.
    var first: Element? { prompt.first ?? others.first }

    /// Adds an element after all others, or after those that are prompt.
    mutating func append(_ element: Element, isPrompt: Bool = false) {
        if isPrompt { prompt.append(element) } else { others.append(element) }
    }

    /// Takes the next one.
    mutating func popFirst() -> Element? {
        if let element = prompt.first {
            prompt.removeFirst()
            return element
        }
        guard let element = others.first else { return nil }
        others.removeFirst()
        return element
    }

    /// Removes some.
    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        prompt.removeAll(where: isRemoved)
        others.removeAll(where: isRemoved)
    }
}
