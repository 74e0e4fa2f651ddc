// How changes of several organizations run, side by side, in the transaction that they share (postgres/batches.ts).
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
	type Db,
	type OfOrganization,
	type Query,
	type Rows,
	type SharedTransaction,
	type Transaction,
	unavailability,
} from '../database.ts'
import type { End } from '../postgres/batches.ts'
import type { Run } from '../postgres/connections.ts'
import { hasTakenTooLong, isAboutRowOf, isRefused, isUndone, Undone } from '../postgres/errors.ts'
import type { Statements } from '../statements.ts'
import { lastTimeOf, lockFreeTimes } from '../write-context.ts'
import { isAnswered, leave, type Notes } from './notes.ts'
import { groupLockMs } from './postgres-groups.ts'
import { inside, type Named, runner } from './postgres-transactions.ts'

/**
 * Runs changes that share a fate, each of another organization: none sees what another does. One does not begin whose organization's turn another
 * transaction has.
 */
export async function sideBySide(
	run: Run,
	statements: Statements<Named>,
	notes: Notes,
	jobs: readonly { readonly organizationId: string; work(tx: Transaction): Promise<unknown> }[],
	failed: (index: number, error: unknown) => void,
): Promise<End[]> {
	run(`set local lock_timeout = ${groupLockMs}`).catch(() => {})
	const db = runner(run, statements)
	const organizationIds = jobs.map(({ organizationId }) => organizationId)
	const lastTimes = await lockFreeTimes(db, organizationIds)
	// Of the rows that all of them leave, it is the one that the error is about.
	notes.failed = (error) => {
		const index = organizationIds.findIndex((id) => isAboutRowOf(error, id))
		if (index >= 0) failed(index, error)
	}
	const together = askedTogether(db)
	const failures: unknown[] = []
	const runPart = async ({ organizationId, work }: (typeof jobs)[number], index: number): Promise<End> => {
		const lastTime = lastTimes.get(organizationId)
		if (lastTime === undefined) return 'not begun'
		let hasWritten = false
		const fail = (error: unknown) => {
			if (isRefused(error) || error instanceof Undone) return
			failures.push(error)
			failed(index, error)
		}
		const own: Run = (query) => {
			hasWritten ||= !/^select /.test((query as Named).text)
			return run(query)
		}
		const known = new Map<string, unknown>([[lastTimeOf(organizationId), lastTime]])
		const part: Notes = { known, later: [], sent: notes.sent, failed: fail }
		const watched = (tx: Transaction) =>
			work({
				...tx,
				shared: {
					...(tx.shared as SharedTransaction),
					together(query, row) {
						hasWritten = true
						return together(query, row).catch((error) => {
							failures.push(error)
							throw new Undone(sharedFailure, { cause: error })
						})
					},
				},
				// There is no savepoint for a part: if it has written, nothing is stored, whatever its change makes of its failure.
				attempt: (attempted) => {
					const hadWritten = hasWritten
					const later = [...part.later]
					hasWritten = false
					return attempted()
						.catch((error) => {
							part.later = later
							if (hasWritten || !isOwn(error)) fail(error)
							throw error
						})
						.finally(() => {
							hasWritten ||= hadWritten
						})
				},
				// What holds until the end of the transaction may stay there whatever becomes of the change.
				once: (name, work) => {
					const hadWritten = hasWritten
					const value = tx.once(name, work)
					hasWritten = hadWritten
					return value
				},
			})
		try {
			const value = await inside(own, statements, part, watched, false)
			leave(db, notes, part.later)
			return { value }
		} catch (error) {
			if (hasWritten || !isOwn(error)) fail(error)
			return { error }
		}
	}
	const ends = await Promise.all(jobs.map(runPart))
	if (failures.length === 0) return ends
	const [failure] = failures
	throw failsAlone(failure) ? new Undone('a change beside it failed', { cause: failure }) : failure
}

/** Asks for rows of several organizations with one statement, which is sent when all that can ask at the same time have done so. */
function askedTogether(db: Db): NonNullable<SharedTransaction['together']> {
	const asked = new Map<
		Query<Rows, OfOrganization>,
		{ readonly rows: OfOrganization[]; readonly answers: Promise<OfOrganization[]> }
	>()
	const ask = <Row extends OfOrganization>(query: Query<Rows, Row>) => {
		const rows: OfOrganization[] = []
		const answers = nextTurn().then(() => {
			asked.delete(query)
			return db.all(query, { rows: JSON.stringify(rows) })
		})
		asked.set(query, { rows, answers })
		return { rows, answers }
	}
	return async <Row extends OfOrganization>(query: Query<Rows, Row>, row: OfOrganization) => {
		const { rows, answers } = asked.get(query) ?? ask(query)
		rows.push(row)
		return (await answers).find(({ organizationId }) => organizationId === row.organizationId) as Row | undefined
	}
}

/** Whether an error is what a change says of itself, and not one of the database. */
const isOwn = (error: unknown) => !isAnswered(error) && unavailability(error) === undefined

/** Whether a failure is that of one change, and not of the connection that it shares with others. */
const failsAlone = (error: unknown) => isUndone(error) || hasTakenTooLong(error) || unavailability(error) === undefined

const sharedFailure = 'a statement had failed that it shared with others'
