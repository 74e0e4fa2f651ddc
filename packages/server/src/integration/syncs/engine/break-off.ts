// What becomes of a run that was broken off: it waits and goes on from its checkpoint, or it ends.

import type { Sync, SyncRun, SyncRunError } from '../../../generated/contract.ts'
import { ApiError } from '../../../platform/base/errors.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { Again, Job } from '../../../platform/work/jobs.ts'
import { restUntil } from '../../../platform/work/kinds.ts'
import { EndlessList, ProviderFailed, UnknownObject } from '../../connections/records/records.ts'
import { endRun, lastRunOf } from '../begin.ts'
import type { Checkpoint } from '../checkpoint.ts'
import { AccountChanged, SchemaChanged } from '../run/schema.ts'
import { originOf } from '../run/session.ts'
import { changeRun, findStoredRun, recordRunEvent, type StoredRun } from '../run-store.ts'
import { noteOfSync } from '../state-store.ts'
import { syncs } from '../store.ts'
import { TooManyDeletions } from './deletions.ts'
import { RecordFailed } from './pull.ts'

/** The run cannot go on: its connection or its mapping cannot be used any more. */
export class Blocked extends Error {
	readonly code: SyncRunError['code']

	constructor({ code, detail }: SyncRunError) {
		super(detail)
		this.code = code
	}
}

/** Failures in a row, until a run ends as failed. */
export const mostTries = 8
const firstWaitMs = 1_000
const longestWaitMs = 5 * 60_000

/** A provider that says "at once" is asked a second later. */
const shortestLimitMs = 1_000

/** Half of how long a run rests at most until it looks again whether the server has the key of its credentials. */
const keyWaitMs = 30_000

/** A time between nothing and twice as much with each failure (full jitter). */
const delay = (tries: number): number => Math.round(Math.random() * Math.min(longestWaitMs, firstWaitMs * 2 ** tries)) + 50

/** What follows: an end, or a wait until a time, or without one until somebody lets it go on. */
type Verdict =
	| { readonly error: SyncRunError; readonly blockedBy?: string }
	| { readonly error: SyncRunError; readonly waitMs: number | null; readonly checkpoint?: Partial<Checkpoint> }

/** What became of a run that came to its end by itself, or began to wait. */
export interface RunOutcome extends Pick<SyncRun, 'organizationId' | 'syncId'> {
	readonly runId: string
	/** `blocked`: it failed, and its sync begins no other until somebody acts. */
	readonly outcome: 'succeeded' | 'partially_succeeded' | 'failed' | 'blocked' | 'waiting'
	readonly error?: SyncRunError['code']
}

interface Observer {
	/** Called with an error that nobody expects. */
	readonly failed: (error: unknown, runId: string) => void
	/** Called with each end, and once for each reason to wait. */
	readonly ended: (outcome: RunOutcome) => void
}

/** Stores what follows from what broke a run off; returns when its job is due again. */
export async function breakOff(job: Job, error: unknown, { failed, ended }: Observer): Promise<Again> {
	const { organizationId, resourceId, now } = job
	let outcome: RunOutcome | undefined
	const again = await job.part(async (tx) => {
		const found = await findStoredRun(tx, { organizationId, id: resourceId })
		const sync = found && (await syncs.lock(tx, organizationId, found.run.syncId))
		const stored = await findStoredRun(tx, { organizationId, id: resourceId })
		if (!stored || !sync || stored.run.status !== 'running') return undefined
		const verdict = verdictOf(error, stored.checkpoint)
		if (verdict.error.code === 'internal_error') failed(error, resourceId)
		outcome = outcomeOf(stored, verdict)
		return follow(tx, stored, sync, verdict, now)
	})
	if (outcome) ended(outcome)
	return again
}

/** Undefined when the run waits for a reason that was told. */
function outcomeOf({ run, checkpoint }: StoredRun, verdict: Verdict): RunOutcome | undefined {
	const { id: runId, organizationId, syncId } = run
	const { code } = verdict.error
	if ('waitMs' in verdict && checkpoint.told?.includes(code)) return undefined
	const outcome = 'waitMs' in verdict ? 'waiting' : verdict.blockedBy === undefined ? 'failed' : 'blocked'
	return { organizationId, syncId, runId, outcome, error: code }
}

async function follow(db: Db, { run, checkpoint }: StoredRun, sync: Sync, verdict: Verdict, now: number): Promise<Again> {
	const { error } = verdict
	const origin = originOf(run, now)
	if (!('waitMs' in verdict)) {
		const { blockedBy } = verdict
		await endRun({ db, origin }, sync, run, { status: 'failed', error, ...(blockedBy !== undefined && { blockedBy }) })
		return undefined
	}
	const waitingUntil = verdict.waitMs === null ? null : now + verdict.waitMs
	const told = [...new Set([...(checkpoint.told ?? []), error.code])]
	const changes = { status: 'waiting', error, waitingUntil, checkpoint: { ...checkpoint, told, ...verdict.checkpoint } } as const
	await changeRun(db, run, 'running', now, changes)
	const waiting = { ...run, status: 'waiting', error, updatedAt: now } as const
	await noteOfSync(db, sync, now, { lastRun: lastRunOf(waiting) })
	if (waitingUntil !== null) return { dueAt: restUntil(waitingUntil, now) }
	await recordRunEvent(db, origin, 'sync.run.confirmation_required', waiting)
	return undefined
}

function verdictOf(error: unknown, checkpoint: Checkpoint): Verdict {
	const detail = error instanceof Error ? error.message : ''
	if (error instanceof TooManyDeletions) return { error: { code: 'too_many_deletions', detail }, waitMs: null }
	if (error instanceof Blocked) return { error: { code: error.code, detail }, blockedBy: detail }
	if (error instanceof SchemaChanged) return { error: { code: 'schema_changed', detail }, blockedBy: detail }
	if (error instanceof AccountChanged) return { error: { code: 'account_changed', detail }, blockedBy: detail }
	if (error instanceof UnknownObject) return { error: { code: 'provider_rejected', detail }, blockedBy: detail }
	if (error instanceof ApiError && error.code === 'storage_limit_reached')
		return { error: { code: 'storage_limit', detail }, waitMs: Number(error.headers['Retry-After']) * 1_000 }
	if (error instanceof RecordFailed) return { error: { code: 'record_failed', detail } }
	const tries = checkpoint.tries + 1
	if (error instanceof EndlessList) return { error: { code: 'list_without_end', detail } }
	if (error instanceof ProviderFailed) return verdictOfProvider(error, checkpoint, tries)
	const unknown = { code: 'internal_error', detail: 'The server could not go on; its log says why.' } as const
	return tries < mostTries ? { error: unknown, waitMs: delay(tries), checkpoint: { tries } } : { error: unknown }
}

function verdictOfProvider(
	{ kind, message: detail, retryAfterMs }: ProviderFailed,
	{ restarts = 0 }: Checkpoint,
	tries: number,
): Verdict {
	if (kind === 'off') return { error: { code: 'connection_not_active', detail }, blockedBy: detail }
	if (kind === 'reauth') return { error: { code: 'connection_needs_reauth', detail }, blockedBy: detail }
	if (kind === 'unreadable')
		return { error: { code: 'credentials_unreadable', detail }, waitMs: Math.round(keyWaitMs * (1 + Math.random())) }
	if (kind === 'rejected') return { error: { code: 'provider_rejected', detail } }
	const waitMs = Math.max(retryAfterMs ?? 0, delay(tries))
	// A limit is no failure: it is waited for, however often.
	if (kind === 'limit')
		return { error: { code: 'provider_limit', detail }, waitMs: Math.max(shortestLimitMs, retryAfterMs ?? waitMs) }
	const isAnew = kind === 'cursor_expired'
	// Pages that are read well in between end no row of these.
	if (tries >= mostTries || (isAnew && restarts + 1 >= mostTries)) return { error: { code: 'provider_failed', detail } }
	const again = isAnew ? { cursor: null, index: 0, trail: null, restarts: restarts + 1, tries } : { tries }
	return { error: { code: 'provider_failed', detail }, waitMs, checkpoint: again }
}
