// The health of an endpoint: when all its attempts fail for days, its owner is warned, and then the endpoint is disabled.

import type { DisabledReason } from '../../../generated/contract.ts'
import { hourMs } from '../../../platform/base/dates.ts'
import { bySystem } from '../../../platform/base/origin.ts'
import type { Database, Db } from '../../../platform/db/database.ts'
import { changeEndpoint } from '../endpoint-rules.ts'
import {
	endpoints,
	findHealthState,
	findHealthStates,
	type HealthState,
	noteWorks,
	recordEndpointEvent,
} from '../endpoint-store.ts'
import { noteRecovery } from '../recovery-store.ts'
import type { Target } from './claim-store.ts'

/** Failures alone for this long disable an endpoint. */
const disableAfterMs = 120 * hourMs
/** Failures alone for this long, and each time again, cause a warning. */
const warnAfterMs = 24 * hourMs

/** What a batch of attempts says about an endpoint. */
export type HealthSignal = 'works' | 'fails' | 'gone'

/** Whether the signal changes the endpoint's row. */
function changesRow({ failingSince, warnedAt, worksSince }: HealthState, signal: HealthSignal, now: number): boolean {
	if (signal === 'works') return failingSince !== null || worksSince === null
	if (signal === 'gone' || failingSince === null) return true
	return now - (warnedAt ?? failingSince) >= warnAfterMs || now - failingSince >= disableAfterMs
}

/** A signal from a batch of attempts to an endpoint. */
export interface Signalled {
	readonly target: Target
	readonly signal: HealthSignal
}

/**
 * Whether a signal would change nothing if its endpoint were as it was when its delivery was claimed. Mostly it still is: then it is enough to ask with
 * the results (`changedOf`), and not in a round trip before them. Not an attempt by a pass, which it gives back.
 */
export const changesNothing = ({ target, signal }: Signalled, now: number) =>
	target.provenAt !== null && !changesRow(target, signal, now)

/** Of signals that would have changed nothing, those that now would. */
export async function changedOf(db: Db, all: readonly Signalled[], now: number): Promise<Signalled[]> {
	const keys = all.map(({ target: { organizationId, endpointId: id } }) => ({ organizationId, id }))
	const states = new Map((await findHealthStates(db, keys)).map((state) => [state.id, state]))
	return all.filter(({ target, signal }) => {
		const state = states.get(target.endpointId)
		return state !== undefined && changesRow(state, signal, now)
	})
}

/** Applies a signal to its endpoint. Most signals change nothing and cost one read. */
export async function noteHealth(db: Database, { target, signal }: Signalled, now: number): Promise<void> {
	const before = await findHealthState(db, target.organizationId, target.endpointId)
	if (before && changesRow(before, signal, now)) await db.transaction((tx) => change(tx, target, signal, now))
}

async function change(tx: Db, target: Target, signal: HealthSignal, now: number): Promise<void> {
	const { organizationId, endpointId: id } = target
	const write = { db: tx, origin: bySystem(now, 'jobs.endpointHealth') }
	const endpoint = await endpoints.lock(tx, organizationId, id)
	// The owner stopped the endpoint or gave it another URL meanwhile: the signal is about the old one.
	if (endpoint?.status !== 'active' || endpoint.url !== target.url) return
	// Read again under the lock: another process may have warned meanwhile.
	const warnedAt = (await findHealthState(tx, organizationId, id))?.warnedAt ?? null
	if (signal === 'works') {
		if (endpoint.failingSince === null) await noteWorks(tx, endpoint, now)
		else {
			await changeEndpoint(write, endpoint, { failingSince: null, warnedAt: null, worksSince: now })
			await noteRecovery(tx, endpoint, endpoint.failingSince, now)
		}
		return
	}
	const failingSince = endpoint.failingSince ?? now
	const reason = reasonToDisable(signal, failingSince, now)
	if (reason) {
		const changes = { status: 'disabled', disabledReason: reason, failingSince, worksSince: null } as const
		const disabled = await changeEndpoint(write, endpoint, changes)
		await recordEndpointEvent(tx, write.origin, disabled, 'webhook.endpoint.disabled')
	} else if (now - (warnedAt ?? failingSince) >= warnAfterMs) {
		const warned = await changeEndpoint(write, endpoint, { warnedAt: now })
		await recordEndpointEvent(tx, write.origin, warned, 'webhook.endpoint.failing')
	} else if (endpoint.failingSince === null) await changeEndpoint(write, endpoint, { failingSince, worksSince: null })
}

function reasonToDisable(signal: HealthSignal, failingSince: number, now: number): DisabledReason | undefined {
	if (signal === 'gone') return 'gone'
	return now - failingSince >= disableAfterMs ? 'failing' : undefined
}
