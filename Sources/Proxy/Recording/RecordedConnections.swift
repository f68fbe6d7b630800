import Streams

/// The connections, and legs of them, whose ends the recorder has not been notified of.
///
/// Their handles say where they are, so that the connection of each chunk is found without hashing. A place may be used again, for a
/// handle with another number.
struct RecordedConnections {
    private var places: [RecordingQueue.Recorded] = []
    private var free: [Int] = []

    /// Adds a connection; returns its handle.
    ///
    /// - Parameter number: that of its handle; not 0.
    mutating func add(_ number: Int, _ recorded: RecordingQueue.Recorded) -> RecordingQueue.Handle {
        var recorded = recorded
        recorded.handle = number
        guard let place = free.popLast() else {
            places.append(recorded)
            return RecordingQueue.Handle(number: number, place: places.count - 1)
        }
        places[place] = recorded
        return RecordingQueue.Handle(number: number, place: place)
    }

    private func has(_ handle: RecordingQueue.Handle) -> Bool {
        places.indices.contains(handle.place) && places[handle.place].handle == handle.number
    }

    /// A connection's number in the trace; nil before the recorder is notified of it, and once it is removed.
    func traceNumber(_ handle: RecordingQueue.Handle) -> ConnectionLeg? {
        has(handle) ? places[handle.place].number : nil
    }

    /// A connection; nil once it is removed. Setting it to nil removes it.
    subscript(handle: RecordingQueue.Handle) -> RecordingQueue.Recorded? {
        get { has(handle) ? places[handle.place] : nil }
        set {
            guard has(handle) else { return }
            if var recorded = newValue {
                recorded.handle = handle.number
                places[handle.place] = recorded
            } else {
                places[handle.place] = .vacant
                free.append(handle.place)
            }
        }
    }
}
