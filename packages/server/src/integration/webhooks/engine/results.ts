// What the outcome of an attempt means: for the delivery, for its endpoint's health, and for the endpoint's next attempts.
import { hourMs } from '../../../platform/base/dates.ts'
import type { Outcome } from '../../../platform/outside/http.ts'
import { nextAttempt, type Pause, retryAfterMs } from '../../../platform/work/backoff.ts'
import type { ClaimedDelivery, Target } from './claim-store.ts'
import type { HealthSignal } from './endpoint-health.ts'
import type { DeliveryResult } from './queue-store.ts'

export interface AttemptInput {
	readonly target: Target
	readonly claimed: ClaimedDelivery
	readonly leaseEnd: number
	readonly startedAt: number
	readonly endedAt: number
	/** What is stored of the request, if it was sent. */
	readonly request: string | null
	readonly outcome: Outcome
	readonly schedule: readonly number[]
}

export interface AttemptResult {
	readonly target: Target
	readonly result: DeliveryResult
	readonly failed: boolean
	/** Whether nothing was sent, as no network of the host could be dialled. */
	readonly heldBack: boolean
	/** Whether that is because the networks where the host is proven took no connection, while it has others. */
	readonly unreached: boolean
	/** The network that a probe reached. */
	readonly network: string | undefined
	/** What the receiver asked for. */
	readonly pause?: Pause
}

/** The longest time for which a receiver may hold back what it has not seen: otherwise one answer would silence it for a day. */
const longestPauseMs = hourMs

const isGone = ({ responseStatus }: Pick<Outcome, 'responseStatus'>) => responseStatus === 410

/** Whether the attempt was made before its time in the schedule. */
const isEarly = ({ scheduledAt }: ClaimedDelivery, endedAt: number) => scheduledAt !== null && scheduledAt > endedAt

/** When the next attempt is; undefined when there is none. After one that was brought forward, at the time of the schedule. */
const nextOf = (claimed: ClaimedDelivery, endedAt: number, schedule: readonly number[], wait = 0): number | undefined =>
	claimed.scheduledAt !== null && isEarly(claimed, endedAt)
		? Math.max(claimed.scheduledAt, endedAt + wait)
		: nextAttempt(schedule, claimed.retryCount + 1, endedAt, { retryAfterMs: wait })

export function classify({
	target,
	claimed,
	leaseEnd,
	startedAt,
	endedAt,
	request,
	outcome,
	schedule,
}: AttemptInput): AttemptResult {
	const { retryAfter, brokenOff, heldBack, unreached, network, sent, ...shown } = outcome
	const failed = outcome.error !== null
	const wait = failed ? retryAfterMs(retryAfter, endedAt) : undefined
	const next = failed && !isGone(outcome) ? nextOf(claimed, endedAt, schedule, wait) : undefined
	const early = isEarly(claimed, endedAt)
	const asksForPause = wait !== undefined && (outcome.responseStatus === 429 || outcome.responseStatus === 503)
	return {
		target,
		failed,
		heldBack,
		unreached,
		network,
		...(asksForPause && { pause: { from: endedAt, until: endedAt + Math.min(wait, longestPauseMs) } }),
		result: {
			organizationId: target.organizationId,
			id: claimed.deliveryId,
			endpointId: target.endpointId,
			resourceId: claimed.resourceId,
			number: claimed.attemptCount + 1,
			sequence: claimed.sequence,
			wasOutOfOrder: Boolean(claimed.outOfOrder),
			leaseEnd,
			status: !failed ? 'succeeded' : next === undefined ? 'exhausted' : 'retrying',
			nextAttemptAt: next ?? null,
			// The receiver asked for this very time, or the attempt was early: it is not brought forward again before then.
			scheduledAt: next !== undefined && (early || (wait !== undefined && next === endedAt + wait)) ? next : null,
			counts: early ? 0 : 1,
			startedAt,
			endedAt,
			request: sent ? request : null,
			...shown,
		},
	}
}

/** What the rows of an attempt and of its delivery take in the database without the answer, about. */
const rowBytes = 700

/** How many bytes an attempt stored, about. */
export const bytesOf = ({ responseBody, error }: Pick<DeliveryResult, 'responseBody' | 'error'>): number =>
	rowBytes + Buffer.byteLength(responseBody ?? '') + Buffer.byteLength(error ?? '')

/** What the attempts of a batch to one endpoint say about its health. */
export function signalOf(ended: readonly AttemptResult[]): HealthSignal {
	if (ended.some(({ result }) => isGone(result))) return 'gone'
	return ended.every(({ failed }) => failed) ? 'fails' : 'works'
}
