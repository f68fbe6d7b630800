/// `GET report`: what `frametap report --as json` writes, of captures that have been read.
enum ReportQuery {
    static func answer(_ page: Page) throws(PageFault) -> [UInt8] {
        if let report = page.store.read({ $0.report }) { return report }
        throw PageFault(
            404, "there is no report; expected frametap view with captures, and that they have been read to their end")
    }
}
