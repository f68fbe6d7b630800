import Testing

@testable import frametap

@Suite struct OutputPaceTests {
    /// However often it asks, output is shown four times a second.
    @Test func outputIsShownRegularly() {
        let start = ContinuousClock.now
        var pace = OutputPace(since: start)
        var shown: [Int] = []
        for millisecond in stride(from: 0, through: 2_000, by: 7)
        where pace.isDue(start + .milliseconds(millisecond)) { shown.append(millisecond) }
        #expect(shown.count == 7 && shown.first == 252)
        #expect(zip(shown, shown.dropFirst()).allSatisfy { (250...260).contains($1 - $0) })
    }
}
