import Framing
import Streams

/// Frames that are written in pieces, or together.
extension FrameStage {
    private static func frames(_ count: Int) -> String { count == 1 ? "1 frame" : "\(count) frames" }

    /// Cuts a frame into writes, or keeps it for one with others.
    mutating func segment(_ seen: Seen, by index: Int, _ segmentation: Segmentation, at now: Timestamp) {
        let (direction, frame) = (seen.direction, seen.bytes)
        flush(direction, at: now)
        if let (count, within) = segmentation.joined {
            if let joining = sides[direction].joining, joining.rule != index { join(direction, at: now) }
            let number = sides[direction].joined.count + 1
            sides[direction].joinedReport = report(
                on: seen, by: index, passed: frame.count, Self.frames(number) + " in one write", at: now)
            if case .mergeAndHalf = segmentation, number > count, frame.count > 1 {
                // The first half goes with the frames before it, the second by itself.
                let half = frame.count / 2
                sides[direction].joined.append(Array(frame[..<half]))
                // Reported with the last cut: only then is it known whether all are proven.
                var report = sides[direction].joinedReport
                report?.detail = Self.frames(count) + " and a half in one write"
                sides[direction].joinedReport = nil
                join(direction, at: now)
                emit(Array(frame[half...]), direction, at: now)
                actions.append(.cut(direction, report: report))
                return
            }
            if sides[direction].joining == nil { sides[direction].joining = (index, now + within) }
            sides[direction].joined.append(frame)
            if case .merge = segmentation, number == count { join(direction, at: now) }
            return
        }
        join(direction, at: now)
        // What was written before it must not be read with it.
        actions.append(.cut(direction))
        let places = segmentation.places(
            frame, seen.values.info.shape, seen.format, &rules[index].chances[direction])
        var start = 0
        for place in places {
            emit(Array(frame[start..<place]), direction, at: now)
            actions.append(.cut(direction))
            start = place
        }
        emit(Array(frame[start...]), direction, at: now)
        let shown = places.prefix(20).map(String.init).joined(separator: ", ") + (places.count > 20 ? ", …" : "")
        let detail = places.isEmpty ? "not cut" : "cut after byte \(shown)"
        actions.append(.cut(direction, report: report(on: seen, by: index, passed: frame.count, detail, at: now)))
    }

    /// Writes the frames that are to be written together.
    mutating func join(_ direction: Direction, at now: Timestamp) {
        guard !sides[direction].joined.isEmpty else { return }
        let (frames, report) = (sides[direction].joined, sides[direction].joinedReport)
        (sides[direction].joined, sides[direction].joining, sides[direction].joinedReport) = ([], nil, nil)
        flush(direction, at: now)
        actions.append(.cut(direction))
        emit(frames.flatMap { $0 }, direction, at: now)
        actions.append(.cut(direction, report: report))
    }
}
