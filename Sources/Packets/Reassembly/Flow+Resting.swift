import Streams

/// Connections in which nothing happens: what is known of them is packed.
extension Flow {
    /// Whether numbers say all there is to know of it, besides its receiver.
    var isResting: Bool { state == .open && reset == nil && !awaitsReset }

    /// Whether something waits in one of its directions.
    var isWaiting: Bool { sides.fromClient.isWaiting || sides.fromServer.isWaiting }

    /// One that was packed, without its receiver.
    init(_ numbers: inout PackedNumbers) {
        let (key, clientIsLower) = FlowKey.unpacked(&numbers)
        var number = 0
        numbers.pass(&number)
        self.init(key: key, number: number, receiver: nil, clientIsLower: clientIsLower)
        passState(through: &numbers)
    }

    /// Packs a resting one.
    mutating func pass(through numbers: inout PackedNumbers) {
        key.pack(into: &numbers, clientIsLower)
        var number = number
        numbers.pass(&number)
        passState(through: &numbers)
    }

    private mutating func passState(through numbers: inout PackedNumbers) {
        var (hasFIN, isFromServer) = (finBy != nil, finBy == .fromServer)
        numbers.pass(&hasFIN)
        numbers.pass(&isFromServer)
        finBy = hasFIN ? isFromServer ? .fromServer : .fromClient : nil
        numbers.pass(&isIdle)
        numbers.pass(&isJoined)
        numbers.pass(&hasRepeatedSYN)
        numbers.pass(&packets)
        numbers.pass(&reportedUntil)
        sides.fromClient.pass(through: &numbers)
        sides.fromServer.pass(through: &numbers)
        // Usually a small number.
        let usual =
            max(sides.fromClient.lastTime, sides.fromServer.lastTime).nanoseconds
            &+ ReassemblyOptions.usualIdleTimeout.nanoseconds
        var difference = Int(quietAt.nanoseconds &- usual)
        numbers.pass(&difference)
        quietAt = Timestamp(nanoseconds: usual &+ Int64(difference))
    }

    /// Its place is free.
    mutating func vacate() {
        state = .free
        receiver = nil
    }
}

extension SendingSide {
    fileprivate mutating func pass(through numbers: inout PackedNumbers) {
        numbers.pass(&marks.rawValue)
        numbers.pass(&next)
        if !marks.isDisjoint(with: [.ackSeen, .ackDoubted]) {
            // It is often the same number.
            var difference = next &- acknowledged
            numbers.pass(&difference)
            acknowledged = next &- difference
        }
        numbers.pass(&offset)
        numbers.pass(&lastTime)
        var isWaiting = isWaiting
        numbers.pass(&isWaiting)
        if isWaiting { numbers.pass(&place) } else { place = -1 }
        numbers.pass(&window)
        numbers.pass(&windowScale)
        identifications.pass(through: &numbers)
    }
}
