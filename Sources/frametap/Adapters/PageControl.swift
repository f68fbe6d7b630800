import Control
import Framing
import Interception
import Page
import Proxy
import Streams

/// What the page of a proxy does to the proxy's own listeners.
final class PageControl {
    private var listeners: [(listener: Listener, managed: ManagedListener)] = []
    private let rules: RuleStore

    init(_ rules: RuleStore) { self.rules = rules }

    /// The handle of a listener, which is kept.
    func handle(of listener: Listener) -> ManagedListener {
        let rules = rules
        let managed = ProxyServer.managing { rules.stages(of: $0, to: $1, isCommanded: true) }
        listeners.append((listener, managed))
        return managed
    }

    /// The page's actions, on an API that knows the listeners from now on.
    ///
    /// - Parameter places: where the listeners listen, in their order.
    func actions(on api: FrametapAPI, _ places: [Place], _ page: Page) throws -> PageActions {
        var known: [ControlledListener] = []
        for ((listener, managed), place) in zip(listeners, places) {
            let server =
                switch listener.server {
                case .fixed(let server): "\(server)"
                case .chosen(let choice): "\(choice.scheme)://"
                }
            known.append(
                ControlledListener("\(place)", managed, listen: "\(place)", to: server, rules) {
                    page.store.format(of: $0)
                })
        }
        let own = known
        try Blocking.wait { for listener in own { await api.adopt(listener) } }
        return PageActions(
            answer: { await api.answer($0, $1) }, listener: { await api.listener(of: $0) },
            switches: { api.switches }, holdTimeout: rules.limits.time)
    }
}
