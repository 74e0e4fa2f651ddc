// Goes on with what pausing, deleting and redelivering left to do (integration/webhooks/backlog-store.ts), and with records that a rejected event held
// back.
import type { Database } from '../../../platform/db/database.ts'
import { inParts } from '../../../platform/work/parts.ts'
import { findBacklogs, workOffPart } from '../backlog-store.ts'
import { endHolds } from './queue-store.ts'

/** Works off all backlogs, a part of each in turn, until none is left or the signal aborts. */
export async function workOffBacklogs(db: Database, now: () => number, signal?: AbortSignal): Promise<void> {
	let left = await findBacklogs(db)
	await inParts(async () => {
		const [first, ...others] = left
		if (first === undefined) return false
		left = (await workOffPart(db, first, now())) ? [...others, first] : others
		return left.length > 0
	}, signal)
}

/** Lets the later events of records go whose rejected event has held them back for long enough. */
export const releaseHeld = (db: Database, now: number, signal?: AbortSignal): Promise<void> =>
	inParts(() => db.transaction((tx) => endHolds(tx, now), { durable: false }), signal)
