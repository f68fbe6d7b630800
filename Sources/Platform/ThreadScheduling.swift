/// How the system schedules the calling thread.
package enum ThreadScheduling {
    /// SCHED_BATCH, which the C library's header declares for GNU sources only.
    private static let batch: Int32 = 3

    /// Lets other threads that become ready run first: this one computes for long, and nobody waits for it. It keeps its share of the
    /// processor, so it does not fall after for good.
    ///
    /// Linux: SCHED_BATCH (sched(7)). Darwin: the quality of service `utility`. Elsewhere nothing changes, and a system that refuses changes
    /// nothing.
    package static func yieldToOthers() {
        #if canImport(Darwin)
        _ = pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0)
        #elseif os(Linux)
        var parameters = sched_param()
        parameters.sched_priority = 0
        _ = sched_setscheduler(0, batch, &parameters)
        #endif
    }
}
