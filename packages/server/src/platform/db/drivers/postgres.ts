// PostgreSQL: statements that each connection prepares once under a name, and a time limit on everything. Reads have connections
// of their own, so that none waits for a transaction that waits for a lock. Organizations share both kinds (shares.ts).
import { hash } from 'node:crypto'
import pg from 'pg'
import { Shares } from '../../fair/shares.ts'
import { CommitListeners, type Database, type Transaction, type TransactionOptions } from '../database.ts'
import { Pools, type PostgresSettings, type Run } from '../postgres/connections.ts'
import { Groups } from '../postgres/groups.ts'
import { Standby } from '../postgres/standby.ts'
import { Statements } from '../statements.ts'
import { sideBySide } from './postgres-batches.ts'
import { groupOn } from './postgres-groups.ts'
import { again, inside, type Named, runner, transactionsOf } from './postgres-transactions.ts'

// Cents and milliseconds are int8 and stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** The same for the same text alone: through a pooler that nobody told of, two processes would run each other's statements. */
const nameOf = (text: string) => hash('sha256', text, 'base64url')

interface Listeners {
	readonly onError: (error: Error) => void
	/** Called when the standby stops to read, with the reason, and with none when it reads again. */
	readonly onStandby: (reason: string | undefined) => void
}

export function openPostgres(settings: PostgresSettings, { onError, onStandby }: Listeners): Database {
	const pools = new Pools(settings, onError)
	const patienceMs = settings.connectMs
	const reads = new Shares({ size: pools.readers, patienceMs })
	const writes = new Shares({ size: pools.writers, patienceMs })
	const committed = new CommitListeners()
	const keeps = settings.pooler === 'none'
	const statements = new Statements<Named>('postgres', (text, stays) => ({ ...(keeps && stays && { name: nameOf(text) }), text }))
	const read = readsOf(pools, reads)
	const standbyPools = settings.readUrl === '' ? undefined : new Pools({ ...settings, url: settings.readUrl }, onError)
	const standby =
		standbyPools &&
		new Standby({
			primary: read,
			standby: readsOf(standbyPools, new Shares({ size: standbyPools.readers, patienceMs })),
			changed: onStandby,
		})
	// Says at once what is wrong with it.
	standby?.prove()
	const transact = transactionsOf(pools, statements, () => committed.notify())
	const groups = new Groups<Transaction>({
		patienceMs,
		enter: (organizationId, work, patienceMs) => writes.run(organizationId, work, patienceMs),
		mostWaiting: Math.max(1, Math.floor((pools.writers * 3) / 4)),
		transact: (work, lockMs) =>
			transact(true, async (run, notes) => {
				if (lockMs !== undefined) run(`set local lock_timeout = ${lockMs}`).catch(() => {})
				const group = groupOn(run, statements, notes, lockMs ?? pools.lockMs)
				await work(group)
				group.end()
			}),
		together: (jobs, failed) => transact(true, (run, notes) => sideBySide(run, statements, notes, jobs, failed)),
	})
	const alone = <T>(work: (tx: Transaction) => Promise<T>, durable: boolean) =>
		again(() => transact(durable, (run, notes) => inside(run, statements, notes, work)))
	return {
		...runner(read, statements),
		...(standby && { standby: runner(standby.run, statements) }),
		transaction: (work, { durable = true, organizationId = '', isShort }: TransactionOptions = {}) =>
			durable && organizationId !== ''
				? groups.run(organizationId, work, isShort)
				: writes.run(organizationId, () => alone(work, durable)),
		onCommit: (listener) => committed.add(listener),
		connections: () =>
			pools.use().map((use, index) => ({ ...use, waiting: use.waiting + ([reads, writes][index]?.waiting ?? 0) })),
		ready: () => pools.ready(),
		async close() {
			standby?.end()
			await Promise.all([pools.end(), standbyPools?.end()])
		},
	}
}

/**
 * A read belongs to the organization that it names. One that names none looks up a key or a client link, or is the server's own: it is
 * short, and waits for a connection alone.
 */
const readsOf =
	(pools: Pools, shares: Shares): Run =>
	(query, organizationId) =>
		new Promise((resolve, reject) => {
			if (organizationId === undefined) return pools.read(query, resolve, reject)
			const leave = () => shares.leave(organizationId)
			shares.enter(organizationId, () => pools.read(query, resolve, reject, leave), reject)
		})
