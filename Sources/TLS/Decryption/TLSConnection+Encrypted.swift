import FoundationEssentials
import Streams

/// Records that are decrypted.
extension TLSConnection {
    /// Takes a record with the key and number it should have.
    mutating func takeEncrypted(
        _ header: RecordHeader, _ record: RawSpan, _ direction: Direction, _ context: Context
    ) -> HeldInput.Wait? {
        if passesUnprotected(header, record, direction, context) { return nil }
        let sequence = sides[direction].sequence
        guard let opened = sides[direction].protection?.open(header, record, sequence: sequence) else {
            // A change of keys in a record that was lost, or whose message was not understood.
            if let found = trial(header, record, later(direction, 0, context)) {
                adopt(found, header, record, direction, context)
            } else {
                fail("the record's tag or MAC is wrong", direction, context)
                sides[direction].recovery?.failures += 1
                passRecord(header, direction)
                sides[direction].protection?.passed(record, isGenuine: false)
            }
            return nil
        }
        if direction == .fromServer, isRenegotiation(opened), mustWaitForRenegotiation { return .renegotiation }
        sides[direction].sequence += 1
        sides[direction].protection?.passed(record)
        deliver(opened, direction, context)
        return nil
    }

    /// Takes a record that is in clear though keys are in use; false if it must be encrypted.
    mutating func passesUnprotected(
        _ header: RecordHeader, _ record: RawSpan, _ direction: Direction, _ context: Context
    ) -> Bool {
        guard state.isTLS13, header.type != .applicationData else { return false }
        if header.type != .changeCipherSpec { takeUnprotected(header, record, direction, context) }
        return true
    }

    private func isRenegotiation(_ opened: OpenedRecord) -> Bool {
        opened.type == ContentType.handshake.rawValue && !state.isTLS13 && opened.length > 0
            && !sides.fromServer.handshake.isWithinMessage
            && opened.bytes[opened.bytes.startIndex] == HandshakeType.serverHello
    }

    /// Hands on what a record contained.
    mutating func deliver(_ opened: OpenedRecord, _ direction: Direction, _ context: Context) {
        if opened.padding > 0 { sides[direction].hasPadding = true }
        let content = opened.bytes.bytes.extracting(0..<opened.length)
        switch ContentType(rawValue: opened.type) {
        case .applicationData where opened.length > 0:
            noteApplicationData(direction, context)
            sides[direction].counts.plaintextBytes += opened.length
            context.receiver.plaintext(content, from: direction)
        case .alert: takeAlert(content, isEncrypted: true, direction, context)
        case .handshake:
            if !sides[direction].haveKeysFit {
                sides[direction].haveKeysFit = true
                context.receiver.event(.keysFit, from: direction)
            }
            takeHandshake(content, direction, context)
        case .changeCipherSpec where !state.isTLS13: changeCipherSpec(direction, context)
        case .changeCipherSpec, .applicationData: break
        case nil: context.receiver.event(.unsupported("a record of type \(opened.type)"), from: direction)
        }
    }
}
