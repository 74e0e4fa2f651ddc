// What probation allows, as SQL about a host `h` (`webhook_hosts`) and an endpoint `p` there (`webhook_endpoints`).

const attemptsAnHour = 20

/** SQL: whether the host `h`, which is on probation, may get an attempt. It takes `now` and `hourAgo`. */
export const mayBeTried = `h."leaseUntil" <= ? and (h."hourBegan" <= ? or h.attempts < ${attemptsAnHour})`

/** SQL: whether the endpoint `p` has a pass: it may get an attempt although its host `h` has lapsed, whatever else `h` gets. */
export const hasPass = `(h."lapsedAt" is not null and p."worksSince" is not null)`
