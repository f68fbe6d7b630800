/// Where rows are kept that wait for too long, such as a file.
package protocol RowStore: AnyObject {
    /// Keeps bytes; returns where they are. It reports errors itself.
    func append(_ bytes: [UInt8]) -> Range<Int>

    /// Bytes that were kept; fewer if they cannot be read, which it reports.
    func read(_ place: Range<Int>) -> [UInt8]
}
