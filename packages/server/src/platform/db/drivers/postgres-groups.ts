// How the changes of one organization run, one after the other, in the transaction that they share (postgres/groups.ts).
import type { Transaction } from '../database.ts'
import type { Run } from '../postgres/connections.ts'
import { isRefused, Undone } from '../postgres/errors.ts'
import type { Group } from '../postgres/groups.ts'
import type { Statements } from '../statements.ts'
import { failureOf, type Notes, rootOf, runLater, send } from './notes.ts'
import { inside, type Named, runner } from './postgres-transactions.ts'

/** How long a change waits for a lock while those before it in its group wait for it. */
export const groupLockMs = 50

/**
 * A savepoint goes with the first statement of its change, together with the release of the one before, and takes no trip. A change that runs
 * none has none.
 */
export function groupOn(
	run: Run,
	statements: Statements<Named>,
	notes: Notes,
	lockMs: number,
): Group<Transaction> & { end(): void } {
	let count = 0
	let before = `set local lock_timeout = ${groupLockMs}`
	return {
		/** Deferred triggers take locks with the commit, which waits for them as any other. */
		end() {
			runLater(runner(run, statements), notes)
			if (count > 0) run(`set local lock_timeout = ${lockMs}`).catch(() => {})
		},
		first(work, waits) {
			notes.waits = waits
			return inside(run, statements, notes, work)
		},
		async next(work) {
			let saved: Promise<unknown> | undefined
			let name = ''
			const own: Notes = { known: new Map(notes.known), later: [...notes.later], sent: [] }
			const saving: Run = (query, organizationId) => {
				if (!saved) {
					// Names of their own: if a change hides that a query failed, its release fails, and the next must not undo it in silence.
					name = `change${++count}`
					saved = run(`${before}; savepoint ${name}`)
					send(own, saved)
					before = `release ${name}`
				}
				return run(query, organizationId)
			}
			try {
				const value = await inside(saving, statements, own, work, false)
				notes.known = own.known
				notes.later = own.later
				notes.sent.push(...own.sent)
				return { value }
			} catch (error) {
				if (saved)
					await run(`rollback to ${name}`).catch((failure) => {
						throw isRefused(failure) ? new Undone('a change of its group hid that a query had failed') : failure
					})
				return { error: rootOf(error, await failureOf(own)) }
			}
		},
	}
}
