import Streams
import Trace

/// What was entered for frames: the next one that says the same needs not be read.
struct EnteredFrames {
    /// What was entered for a frame, and what it added to the masked share.
    struct Entered {
        var entry: ContentTable.Entry
        var characters: UInt32
        var masked: UInt32
        var isMasked: Bool
    }

    /// The fields and bodies of both traces.
    var texts = TextPool()
    /// By the frames' kind in the table, and by the numbers of their texts here.
    var known: [RecordedItems.Content: Entered] = [:]
}

extension ContentTable {
    /// Enters the items of a connection.
    mutating func enter(_ items: RecordedItems) -> [Entry] {
        var reader = Numbers(items)
        var entries: [Entry] = []
        entries.reserveCapacity(items.count)
        for place in items.indices {
            guard let content = items.content(at: place) else {
                entries.append(enter(items[place]))
                continue
            }
            let frame = reader.numbers(of: content, items, &self)
            if let known = entered.known[frame] {
                share.frames += 1
                share.characters += Int(known.characters)
                share.masked += Int(known.masked)
                if known.isMasked { share.maskedFrames += 1 }
                entries.append(known.entry)
                continue
            }
            let before = share
            let entry = enter(items[place])
            entered.known[frame] = EnteredFrames.Entered(
                entry: entry, characters: UInt32(clamping: share.characters - before.characters),
                masked: UInt32(clamping: share.masked - before.masked),
                isMasked: share.maskedFrames > before.maskedFrames)
            entries.append(entry)
        }
        return entries
    }

    /// The table's numbers for those of a list of items.
    private struct Numbers {
        private static let unknown = UInt32.max
        private var kinds: [UInt32]
        private var texts: [UInt32]

        init(_ items: RecordedItems) {
            kinds = Array(repeating: Self.unknown, count: items.kinds.count)
            texts = Array(repeating: Self.unknown, count: items.texts.count)
        }

        mutating func numbers(
            of content: RecordedItems.Content, _ items: RecordedItems, _ table: inout ContentTable
        ) -> RecordedItems.Content {
            RecordedItems.Content(
                kind: kind(Int(content.kind), items, &table), fields: text(Int(content.fields), items, &table),
                body: text(Int(content.body), items, &table))
        }

        private mutating func kind(_ number: Int, _ items: RecordedItems, _ table: inout ContentTable) -> UInt32 {
            if kinds[number] == Self.unknown {
                let kind = items.kinds[number]
                kinds[number] = UInt32(table.kind(kind.from, kind.type, isFrame: true))
            }
            return kinds[number]
        }

        private mutating func text(_ number: Int, _ items: RecordedItems, _ table: inout ContentTable) -> UInt32 {
            if texts[number] == Self.unknown {
                texts[number] = UInt32(items.texts.with(number) { table.entered.texts.number(of: $0) })
            }
            return texts[number]
        }
    }
}
