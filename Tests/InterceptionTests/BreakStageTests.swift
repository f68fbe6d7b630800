import Framing
import Streams
import TestSupport
import Testing

@testable import Interception

/// Frames that are stopped until a command decides.
@Suite struct BreakStageTests {
    private static let format = """
        format: sized
        header: [{ size: u16 }, { kind: u8 }]
        framing: { rule: length-field, field: size, counts: body }
        body: text
        """

    private static func frame(_ kind: UInt8, _ text: String) -> [UInt8] {
        [0, UInt8(text.utf8.count), kind] + Array(text.utf8)
    }

    /// What passes if every stopped frame is decided on by its number, whatever the stream's segmentation.
    private func pass(
        _ frames: [[UInt8]], _ breakpoints: [String], _ generator: inout SeededGenerator,
        _ decide: (Int) -> StageCommand.Decision
    ) throws -> (bytes: [UInt8], stopped: [Int], ended: Bool) {
        let format = try FormatLoader.load(Self.format, file: "test.yaml")
        var chain = StageChain([BreakStage(breakpoints, format, largest: 1 << 20)])
        var (bytes, stopped, ended, waiting): ([UInt8], [Int], Bool, [Int]) = ([], [], false, [])
        var time = Timestamp(nanoseconds: 0)
        func perform(_ outputs: [StageChain.Output]) {
            for output in outputs {
                switch output {
                case .write(let written, .fromClient, _): bytes += written
                case .report(let report) where report.action == "break": waiting.append(report.index ?? -1)
                case .end(.fin, .fromClient): ended = true
                default: break
                }
            }
        }
        var rest = frames.flatMap { $0 }[...]
        perform(chain.take(.began, at: time))
        while !rest.isEmpty || !waiting.isEmpty || !ended {
            time = time + .milliseconds(1)
            if !waiting.isEmpty, rest.isEmpty || Bool.random(using: &generator) {
                let index = waiting.removeFirst()
                stopped.append(index)
                perform(chain.take(.command(.decide(.fromClient, index: index, decide(index))), at: time))
            } else if !rest.isEmpty {
                let count = min(rest.count, Int.random(in: 1...9, using: &generator))
                perform(chain.take(.bytes(Array(rest.prefix(count)), .fromClient), at: time))
                rest = rest.dropFirst(count)
                if rest.isEmpty { perform(chain.take(.end(.fin, .fromClient), at: time)) }
            } else if waiting.isEmpty {
                Issue.record("nothing is stopped, and the end has not passed")
                break
            }
        }
        return (bytes, stopped, ended)
    }

    @Test func whatIsStoppedIsDecidedAndTheRestPassesInOrder() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<200 {
            let kinds = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                UInt8.random(in: 1...3, using: &generator)
            }
            let frames = kinds.enumerated().map { Self.frame($1, String(repeating: "x", count: $0 % 5)) }
            let wanted = frames.indices.filter { kinds[$0] == 2 }
            let place: Comment = "seed \(seed), round \(round)"
            let released = try pass(frames, ["kind == 2"], &generator) { _ in .release }
            #expect(released.bytes == frames.flatMap { $0 } && released.stopped == wanted && released.ended, place)
            let dropped = try pass(frames, ["kind == 2"], &generator) { _ in .drop }
            #expect(dropped.bytes == frames.indices.filter { kinds[$0] != 2 }.flatMap { frames[$0] }, place)
            let edited = try pass(frames, ["kind == 2"], &generator) { _ in
                .replace(fields: [Field("kind", .integer(9))], body: StageCommand.Body(.text("edited")))
            }
            let expected = frames.indices.flatMap { kinds[$0] == 2 ? Self.frame(9, "edited") : frames[$0] }
            #expect(edited.bytes == expected, place)
            let none = try pass(frames, [], &generator) { _ in .release }
            #expect(none.bytes == frames.flatMap { $0 } && none.stopped.isEmpty, place)
        }
    }

    @Test func holdingIsBoundedAndFailsOpen() throws {
        let format = try FormatLoader.load(Self.format, file: "test.yaml")
        var limits = StageChain.Limits()
        (limits.bytes, limits.time) = (100, .seconds(2))
        var chain = StageChain([BreakStage(["kind == 2"], format, largest: 100)], limits: limits)
        let start = Timestamp(nanoseconds: 0)
        let stopped = Self.frame(2, "stop")
        _ = chain.take(.began, at: start)
        #expect(
            !chain.take(.bytes(stopped, .fromClient), at: start).contains {
                if case .write = $0 { true } else { false }
            })
        // Above the limit, its sender is not read.
        // A decision on another frame is none on this one.
        for (direction, index) in [(Direction.fromClient, 1), (.fromClient, -1), (.fromServer, 0)] {
            let outputs = chain.take(.command(.decide(direction, index: index, .drop)), at: start)
            #expect(outputs == [.decided(.notStopped)])
        }
        let more = (0..<20).flatMap { _ in Self.frame(1, "more") }
        #expect(chain.take(.bytes(more, .fromClient), at: start).contains(.pause(.fromClient)))
        // What is held for too long passes.
        var written: [UInt8] = []
        for output in chain.take(.wake, at: start + .seconds(2)) {
            if case .write(let bytes, .fromClient, _) = output { written += bytes }
        }
        #expect(written == stopped + more)
        // A decision that comes too late changes nothing.
        let late = chain.take(.command(.decide(.fromClient, index: 0, .drop)), at: start + .seconds(3))
        #expect(late == [.decided(.notStopped)])
    }

    /// An edit that cannot be encoded says why, and its frame waits for another decision.
    @Test func anImpossibleEditLeavesTheFrameStopped() throws {
        let format = try FormatLoader.load(Self.format, file: "test.yaml")
        var stage = BreakStage(["kind == 2"], format, largest: 100_000)
        let start = Timestamp(nanoseconds: 0)
        let stopped = Self.frame(2, "stop")
        _ = stage.take(.bytes(stopped, .fromClient), at: start)
        func decide(_ decision: StageCommand.Decision) -> [StageAction] {
            stage.take(.command(.decide(.fromClient, index: 0, decision)), at: start)
        }
        let long = StageCommand.Body(.text(String(repeating: "x", count: 70_000)))
        let kinds: [FieldValue] = [.integer(300), .integer(-1), .number(1.5), .null]
        let edits = kinds.map { StageCommand.Decision.replace(fields: [Field("kind", $0)], body: nil) }
        for edit in edits + [.replace(fields: [], body: long), .replace(fields: [Field("none", .null)], body: nil)] {
            let actions = decide(edit)
            #expect(actions.count == 1, "\(edit)")
            guard case .decided(.impossible(let reason))? = actions.first else {
                Issue.record("\(edit) came to \(actions)")
                continue
            }
            #expect(!reason.description.isEmpty)
            #expect(stage.heldBytes.fromClient == stopped.count)
        }
        let actions = decide(.replace(fields: [Field("kind", .integer(3))], body: nil))
        #expect(actions.contains(.emit(Self.frame(3, "stop"), .fromClient, at: start)))
        #expect(actions.contains(.decided(.done)))
        #expect(decide(.release) == [.decided(.notStopped)])
    }

    @Test func actionsHaveTheTypeOfTheirFrame() throws {
        let format = try FormatLoader.load(
            Self.format.replacing("{ kind: u8 }", with: "{ kind: { type: u8, names: { 2: text } } }")
                + "\nframe: { type: kind }\n",
            file: "test.yaml")
        var stage = BreakStage(["kind == 2"], format, largest: 100)
        let start = Timestamp(nanoseconds: 0)
        var actions = stage.take(.bytes(Self.frame(2, "stop"), .fromClient), at: start)
        actions += stage.take(.command(.decide(.fromClient, index: 0, .release)), at: start)
        let reports = actions.compactMap { action -> ActionReport? in
            if case .report(let report) = action { report } else { nil }
        }
        #expect(reports.map(\.action) == ["break", "release"] && reports.allSatisfy { $0.type == "text" })
    }

    /// A frame behind one that was stopped for too long is stopped in turn.
    @Test func whatIsReleasedIsOneFrame() throws {
        let format = try FormatLoader.load(Self.format, file: "test.yaml")
        var limits = StageChain.Limits()
        limits.time = .seconds(2)
        var chain = StageChain([BreakStage(["kind == 2"], format, largest: 100)], limits: limits)
        let start = Timestamp(nanoseconds: 0)
        let (one, two, other) = (Self.frame(2, "one"), Self.frame(2, "two"), Self.frame(1, "other"))
        _ = chain.take(.began, at: start)
        _ = chain.take(.bytes(one, .fromClient), at: start)
        _ = chain.take(.bytes(other + two + other, .fromClient), at: start + .milliseconds(1_700))
        func release(at time: Timestamp) -> (written: [UInt8], released: Int, reports: [String]) {
            var (written, released, reports): ([UInt8], Int, [String]) = ([], 0, [])
            for output in chain.take(.wake, at: time) {
                switch output {
                case .write(let bytes, .fromClient, _): written += bytes
                case .released(let count, .fromClient): released += count
                case .report(let report): reports.append("\(report.action) \(report.index ?? -1)")
                default: break
                }
            }
            return (written, released, reports)
        }
        let first = release(at: start + .seconds(2))
        #expect(first.written == one + other && first.released == one.count + other.count)
        #expect(first.reports == ["release 0", "break 2"] && chain.nextWake == start + .seconds(4))
        let second = release(at: start + .seconds(4))
        #expect(second.written == two + other && second.reports == ["release 2"])
        #expect(chain.heldBytes(.fromClient) == 0)
    }

    /// A reset comes behind a stopped frame; it waits for a decision, but not for long.
    @Test(arguments: [false, true]) func aResetWaitsForADecision(isDecided: Bool) throws {
        let format = try FormatLoader.load(Self.format, file: "test.yaml")
        var chain = StageChain([BreakStage(["kind == 2"], format, largest: 100)])
        let (start, stopped) = (Timestamp(nanoseconds: 0), Self.frame(2, "stop"))
        _ = chain.take(.began, at: start)
        _ = chain.take(.bytes(stopped, .fromClient), at: start)
        #expect(chain.take(.end(.reset, .fromClient), at: start) == [])
        if isDecided {
            let outputs = chain.take(.command(.decide(.fromClient, index: 0, .release)), at: start + .seconds(1))
            #expect(outputs.suffix(2) == [.write(stopped, .fromClient), .end(.reset, .fromClient)])
        } else {
            let outputs = chain.take(.wake, at: start + .seconds(10))
            #expect(outputs == [.discarded(stopped.count, .fromClient), .end(.reset, .fromClient)])
        }
    }

    @Test func withoutBreakpointsWhatWaitsPasses() throws {
        let format = try FormatLoader.load(Self.format, file: "test.yaml")
        var stage = BreakStage(["kind == 2"], format, largest: 100)
        let start = Timestamp(nanoseconds: 0)
        let stopped = Self.frame(2, "stop")
        _ = stage.take(.bytes(stopped, .fromServer), at: start)
        #expect(stage.heldBytes.fromServer == stopped.count)
        let actions = stage.take(.command(.setBreakpoints([])), at: start)
        #expect(actions.contains(.emit(stopped, .fromServer, at: start)))
        // Half a frame is not kept where nothing is stopped.
        #expect(stage.take(.bytes([0, 4], .fromServer), at: start).contains(.emit([0, 4], .fromServer, at: start)))
    }
}
