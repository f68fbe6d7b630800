import DequeModule

/// The awake detections: a limited number, since trials take memory. The one that woke first goes to sleep.
struct DetectionQueue {
    private var awake: Deque<Detection> = []
    private let limit: Int

    /// A queue for at most `limit` detections.
    init(limit: Int = 1_024) {
        self.limit = limit
    }

    /// The number of entries; some of them may be asleep or over.
    var count: Int { awake.count }

    /// A detection is awake now.
    mutating func add(_ detection: Detection) {
        awake.append(detection)
        while awake.count > limit { awake.removeFirst().sleep() }
    }
}
