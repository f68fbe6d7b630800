import DequeModule

/// The awake detections: a limited number, since trials take memory. The one that woke first goes to sleep.
///
/// Of many undecided connections, fewer are awake: those that sleep can be packed while they are still in the processor's caches.
/// Which ones sleep depends on nothing but the events, so that traces are the same however many threads decode.
struct DetectionQueue {
    private var awake: Deque<Detection> = []
    private let limit: Int
    /// How many connections have no format yet, awake or not.
    private var undecided = 0

    /// With as many undecided connections, fewer are awake.
    private static let many = 1 << 14
    private static let fewer = 128

    /// A queue for at most `limit` detections.
    init(limit: Int) {
        self.limit = limit
    }

    /// The format of one more connection is looked for.
    mutating func began() { undecided += 1 }

    /// The format of one of them is known, or not looked for any more.
    mutating func ended() { undecided -= 1 }

    /// A detection is awake now.
    mutating func add(_ detection: Detection) {
        awake.append(detection)
        detection.isQueued = true
        let limit = undecided > Self.many ? min(limit, Self.fewer) : limit
        while awake.count > limit { awake.removeFirst().sleep() }
    }
}
