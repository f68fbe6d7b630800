import CZlib

/// Decompresses a gzip file as it is read, member by member; only one piece and zlib's window are kept.
///
/// Source: RFC 1952, section 2.2 (members) and 2.3 (a member's header and trailer, which zlib checks).
final class Gunzip {
    /// How many compressed bytes are read at once.
    private static let pieceSize = 64 << 10

    /// Where in the file decompression is.
    private enum Place {
        case inMember
        case betweenMembers
    }

    /// zlib keeps a pointer to it: it must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var piece: [UInt8]
    /// The part of the piece not decompressed yet.
    private var unread: Range<Int>
    /// The offset in the file of the piece's first byte.
    private var base = 0
    private var place = Place.inMember
    /// Whether zlib had more output than there was room for.
    private var isHeldBack = false
    private var damage: CaptureError?

    /// Whether a file that begins with these two bytes is a gzip file.
    static func isMagic(_ first: UInt8, _ second: UInt8) -> Bool { first == 0x1f && second == 0x8b }

    /// A decompressor for the file that begins with these bytes; nil if memory runs out.
    init?(beginning bytes: ArraySlice<UInt8>) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        piece = Array(bytes)
        unread = 0..<bytes.count
        // 16 selects gzip's header and trailer, 15 for the largest window.
        guard frametap_inflate_init(stream, 16 + 15) == Z_OK else {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Decompresses the next bytes.
    ///
    /// - Parameter next: reads compressed bytes; 0 at the end of the file.
    /// - Returns: how many bytes were produced, as soon as there are any; 0 at the end.
    func read<Failure: Error>(
        into output: UnsafeMutableRawBufferPointer, next: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(CaptureReadFailure<Failure>) -> Int {
        while true {
            if let damage { throw .damaged(damage) }
            if unread.isEmpty, !isHeldBack, try !refill(next) {
                if place == .betweenMembers { return 0 }
                damage = fault(.truncated, expected: "more of a gzip file", found: "its end")
                continue
            }
            if place == .betweenMembers {
                startMember()
                continue
            }
            let count = inflate(into: output)
            if count > 0 { return count }
        }
    }

    /// Reads the next piece; false at the end of the file.
    private func refill<Failure: Error>(
        _ next: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(CaptureReadFailure<Failure>) -> Bool {
        base += unread.upperBound
        unread = 0..<0
        if piece.count != Self.pieceSize { piece = [UInt8](repeating: 0, count: Self.pieceSize) }
        let outcome = piece.withUnsafeMutableBytes { bytes -> Result<Int, Failure> in
            do throws(Failure) {
                return .success(try next(bytes))
            } catch {
                return .failure(error)
            }
        }
        switch outcome {
        case .success(let count): unread = 0..<min(max(count, 0), piece.count)
        case .failure(let failure): throw .unreadable(failure)
        }
        return !unread.isEmpty
    }

    /// After a member comes another one or the end; zeros pad the last block of a tape.
    private func startMember() {
        switch piece[unread.lowerBound] {
        case 0: unread.removeFirst()
        case 0x1f where inflateReset(stream) == Z_OK: place = .inMember
        case let other:
            damage = fault(
                .badCompression, expected: "another gzip member or the end of the file",
                found: "0x" + String(other, radix: 16))
        }
    }

    /// Lets zlib decompress what there is; returns how many bytes were produced.
    private func inflate(into output: UnsafeMutableRawBufferPointer) -> Int {
        let status = piece.withUnsafeMutableBytes { bytes -> Int32 in
            let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[unread])
            stream.pointee.next_in = rest.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_in = UInt32(rest.count)
            stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = UInt32(clamping: output.count)
            defer {
                // The pointers are valid for this call only.
                (stream.pointee.next_in, stream.pointee.next_out) = (nil, nil)
            }
            return CZlib.inflate(stream, Z_NO_FLUSH)
        }
        let left = Int(stream.pointee.avail_out)
        unread = unread.upperBound - Int(stream.pointee.avail_in)..<unread.upperBound
        isHeldBack = left == 0 && status == Z_OK
        switch status {
        case Z_OK: break
        case Z_STREAM_END: place = .betweenMembers
        // There was no input; the next piece will provide some.
        case Z_BUF_ERROR where unread.isEmpty: break
        default:
            let said = stream.pointee.msg.map { String(cString: $0) } ?? "zlib's error \(status)"
            damage = fault(.badCompression, expected: "compressed data (gzip)", found: said)
        }
        return Int(UInt32(clamping: output.count)) - left
    }

    private func fault(_ kind: CaptureError.Kind, expected: String, found: String) -> CaptureError {
        CaptureError(kind: kind, offset: base + unread.lowerBound, expected: expected, found: found)
    }
}
