import Dispatch
import Synchronization

/// A capture that is read once for several threads, each of which has a share of its connections.
///
/// The threads take turns at reading: the first one that needs a piece that nobody has read reads it, and finds in it where the packets
/// of each share are. A few pieces are kept, so that no thread has to wait for the others most of the time. Each thread goes through
/// all pieces, with a parser of its own (`SharedCaptureReader`).
package final class SharedCapture: Sendable {
    /// How many bytes are read at once: little enough that they stay in a core's cache.
    private static let pieceSize = 128 << 10
    /// From how many pieces on no more is read until all threads have gone through the oldest one.
    private static let mostPieces = 16
    /// The same in bytes, if packets are long.
    private static let mostBytes = mostPieces * pieceSize
    /// A thread reads a piece if fewer than this many are there for it, so that others seldom wait.
    private static let ahead = 2

    private struct Reading {
        var reader: CaptureReader<AnySource>
        var finder: PacketFinder
    }

    private struct State {
        /// The pieces that some thread still needs.
        var pieces: [CapturePiece] = []
        /// How many came before them.
        var passed = 0
        /// How many bytes they have.
        var held = 0
        /// How many pieces each thread is done with.
        var done: [Int]
        /// The threads that wait for a piece, or for room.
        var waiting: [Int] = []
        /// Those that wait no longer, and are to be woken.
        var woken: [Int] = []
        var isReading = false
        /// Whether there are no more pieces.
        var isOver = false
        /// Memory that is used again.
        var spares: [CapturePiece] = []
    }

    private let reading: Mutex<Reading>
    private let state: Mutex<State>
    private let wakes: [DispatchSemaphore]

    /// A capture at its start.
    ///
    /// - Parameters:
    ///   - threads: how many threads read it.
    ///   - chunk: how many bytes are read at once; nil: as many as is fast.
    package init(_ source: some ByteSource & Sendable, for threads: Int, chunk: Int? = nil) {
        reading = Mutex(
            Reading(
                reader: CaptureReader(AnySource(source), chunk: chunk ?? Self.pieceSize), finder: PacketFinder()))
        state = Mutex(State(done: [Int](repeating: 0, count: threads)))
        wakes = (0..<threads).map { _ in DispatchSemaphore(value: 0) }
    }

    private enum Turn {
        case take(CapturePiece)
        case read
        case wait
        case end
    }

    /// A piece by its number; nil if there are no more. Waits until it has been read. The thread no longer needs those before it.
    func piece(_ number: Int, for thread: Int) -> CapturePiece? {
        while true {
            switch change({ turn(of: thread, number, &$0) }) {
            case .take(let piece): return piece
            case .end: return nil
            case .wait: wakes[thread].wait()
            case .read:
                // Nothing else refers to its memory, so it is not copied.
                var piece = state.withLock { $0.spares.popLast() } ?? CapturePiece()
                let isMore = reading.withLock { Self.read(&$0, into: &piece) }
                change { add(isMore ? piece : nil, &$0) }
            }
        }
    }

    /// A thread needs no more pieces. Every thread must call this when it ends, whatever the reason: otherwise the others wait for it.
    package func leave(_ thread: Int) {
        change { pass(.max, thread, &$0) }
    }

    /// Changes the state, and wakes the threads that wait no longer; not before the lock is free.
    private func change<Result>(_ work: (inout State) -> Result) -> Result {
        let (result, woken) = state.withLock { state in
            let result = work(&state)
            defer { state.woken = [] }
            return (result, state.woken)
        }
        for thread in woken { wakes[thread].signal() }
        return result
    }

    private func turn(of thread: Int, _ number: Int, _ state: inout State) -> Turn {
        pass(number, thread, &state)
        let end = state.passed + state.pieces.count
        if !state.isReading, !state.isOver, end - number < Self.ahead,
            state.pieces.isEmpty || state.pieces.count < Self.mostPieces && state.held < Self.mostBytes
        {
            state.isReading = true
            return .read
        }
        if number < end { return .take(state.pieces[number - state.passed]) }
        if state.isOver { return .end }
        state.waiting.append(thread)
        return .wait
    }

    /// A thread is done with the pieces before a number.
    private func pass(_ number: Int, _ thread: Int, _ state: inout State) {
        guard number > state.done[thread] else { return }
        state.done[thread] = number
        let needed = state.done.reduce(.max, min)
        while state.passed < needed, !state.pieces.isEmpty {
            let piece = state.pieces.removeFirst()
            state.passed += 1
            state.held -= piece.bytes.count
            if piece.bytes.count <= 2 * Self.pieceSize { state.spares.append(piece) }
            wakeAll(&state)
        }
    }

    private func add(_ piece: CapturePiece?, _ state: inout State) {
        state.isReading = false
        if let piece {
            state.pieces.append(piece)
            state.held += piece.bytes.count
            state.isOver = piece.isLast || piece.failure != nil
        } else {
            state.isOver = true
        }
        wakeAll(&state)
    }

    private func wakeAll(_ state: inout State) {
        state.woken += state.waiting
        state.waiting = []
    }

    /// Reads the next piece; false if there is none.
    private static func read(_ reading: inout Reading, into piece: inout CapturePiece) -> Bool {
        reading.finder.begin(at: reading.reader.position, reusing: &piece.packets)
        do throws(CaptureReadFailure<any Error>) {
            guard let window = try reading.reader.step(to: &reading.finder, exchanging: &piece.bytes) else {
                return false
            }
            (piece.window, piece.position, piece.isLast) = (window.bytes, window.position, window.isLast)
            reading.finder.finish(into: &piece.packets)
        } catch {
            piece.failure = error
        }
        piece.isExpanded = reading.reader.isExpanding
        piece.bytesRead = reading.reader.bytesRead
        return true
    }
}
