import Streams

/// Where a shard's packet was before: the comment `frametap packet 123 of chat.pcap`.
package struct PacketOrigin: Hashable, Sendable {
    /// Its number in that file, from 1.
    package var number: Int
    /// The file, as it was named when it was read.
    package var file: String

    /// Reads a comment; nil if it says something else.
    package init?(comment: String) {
        let words = comment.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
        guard words.count == 5, words[0] == "frametap", words[1] == "packet", words[3] == "of",
            let number = Int(words[2]), number > 0
        else { return nil }
        (self.number, file) = (number, String(words[4]))
    }

    /// What the comment has after the mark of annotations.
    private static let word = Array("packet ".utf8)
    /// What it has between the number and the file.
    private static let between = Array(" of ".utf8)

    /// Whether this is such a comment, from what it has after the mark of annotations: the decoder has no use for it.
    package static func isOrigin(annotation text: RawSpan) -> Bool {
        guard text.byteCount > word.count else { return false }
        for (offset, byte) in word.enumerated() where text[byte: offset] != byte { return false }
        var place = word.count
        while place < text.byteCount, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[byte: place]) { place += 1 }
        guard place > word.count, text.byteCount - place > between.count else { return false }
        for (offset, byte) in between.enumerated() where text[byte: place + offset] != byte { return false }
        return true
    }

    /// Appends such a comment's text, cut to the longest that an option may be.
    ///
    /// - Parameter file: the file's name.
    static func append(number: Int, of file: [UInt8], to text: inout [UInt8]) {
        text += PacketInfo.annotationMark
        text += word
        var place = 1
        while number / place >= 10 { place *= 10 }
        while place > 0 {
            text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / place % 10))
            place /= 10
        }
        text += between
        text += file.prefix(Int(UInt16.max) - 64)
    }
}

extension PacketInfo {
    /// Whether one of the packet's comments says where it was before.
    func hasOrigin(in options: RawSpan) -> Bool {
        var isFound = false
        PcapngOption.each(in: options, bigEndian: optionsAreBigEndian) { code, value in
            let mark = Self.annotationMark
            guard code == PcapngOption.comment, value.byteCount > mark.count else { return }
            for (offset, byte) in mark.enumerated() where value[byte: offset] != byte { return }
            if PacketOrigin.isOrigin(annotation: value.extracting(mark.count..<value.byteCount)) { isFound = true }
        }
        return isFound
    }
}
