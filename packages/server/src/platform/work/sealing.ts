// Walks over all that is sealed, beside requests.
import type { Logger } from 'pino'
import type { Database } from '../db/database.ts'
import { beginning, type Checkpoint, countPage, sealAgain } from '../outside/reseal.ts'
import type { Secrets } from '../outside/secrets.ts'
import type { JobHandlers } from './jobs.ts'
import { listJobs, scheduleJob } from './jobs-store.ts'
import { inParts } from './parts.ts'

export interface SealedValues {
	/** How many values each key holds, by column; those of the server first. */
	readonly keys: readonly KeyHoldings[]
	/** Values that name no key and that none of the server's opens. */
	readonly unknown: number
	/** Values that name a key of the server, which does not open them. */
	readonly broken: number
	/** Values in the form of older versions. */
	readonly unbound: number
}

interface KeyHoldings {
	readonly id: string
	/** New values are sealed with it. */
	readonly seals: boolean
	/** The server has it. */
	readonly known: boolean
	readonly values: number
	readonly columns: Readonly<Record<string, number>>
}

/** Counts all sealed values; `thoroughly`: opens each one. */
export async function countSealed(
	db: Database,
	secrets: Secrets,
	thoroughly: boolean,
	signal?: AbortSignal,
): Promise<SealedValues> {
	const held = new Map<string, Record<string, number>>(secrets.keyIds.map((id) => [id, {}]))
	const sums = { unknown: 0, broken: 0, unbound: 0 }
	let at: Checkpoint | undefined = beginning
	await inParts(async () => {
		const { column, counts, broken, unbound, next } = await countPage(db, secrets, at as Checkpoint, thoroughly)
		for (const [id, count] of counts) {
			if (id === undefined) sums.unknown += count
			else held.set(id, { ...held.get(id), [column]: (held.get(id)?.[column] ?? 0) + count })
		}
		sums.broken += broken
		sums.unbound += unbound
		at = next
		return at !== undefined
	}, signal)
	const keys = [...held].map(([id, columns]) => ({
		id,
		seals: id === secrets.keyIds[0],
		known: secrets.keyIds.includes(id),
		values: Object.values(columns).reduce((sum, count) => sum + count, 0),
		columns,
	}))
	return { keys, ...sums }
}

/** The job that seals everything with the first key. Its kind names the key, so that only workers which seal with it take the job. */
const resealOf = ({ keyIds: [first] }: Secrets) => ({ organizationId: '', kind: `secrets.reseal.${first}`, resourceId: '' })

export const startReseal = (db: Database, secrets: Secrets, now: number) =>
	db.transaction((tx) => scheduleJob(tx, { ...resealOf(secrets), dueAt: now }))

/** Whether the job is still to be done. */
export const isResealing = async (db: Database, secrets: Secrets): Promise<boolean> =>
	(await listJobs(db, { kind: resealOf(secrets).kind }, 1)).length > 0

/** Pages without a value to seal after which the job notes how far it is. */
const pagesToNote = 50

/** The handler of the job. A value that nothing opens stays as it is. */
export const resealJobs = (db: Database, secrets: Secrets): JobHandlers => ({
	[resealOf(secrets).kind]: async (job) => {
		const { checkpoint } = job
		let at: Checkpoint | undefined = checkpoint === null ? beginning : JSON.parse(checkpoint)
		let unnoted = 0
		await inParts(async () => {
			const { write, count, next } = await sealAgain(db, secrets, at as Checkpoint)
			at = next
			unnoted++
			if (next && (count > 0 || unnoted === pagesToNote)) {
				await job.part(write, { checkpoint: JSON.stringify(next) })
				unnoted = 0
			} else if (count > 0) await job.part(write)
			return at !== undefined
		}, job.signal)
		return at && { dueAt: job.now, checkpoint: JSON.stringify(at) }
	},
})

/** Says in the log which keys the server lacks. */
export async function warnOfLostKeys(db: Database, secrets: Secrets, log: Logger, signal: AbortSignal): Promise<void> {
	const { keys, unknown } = await countSealed(db, secrets, false, signal)
	const lost = keys.filter(({ known }) => !known)
	const named = lost.map(({ id, values }) => `${id} (${values} values)`)
	if (unknown > 0) named.push(`an unnamed one (${unknown} values)`)
	if (named.length === 0) return
	log.error(
		`ENCRYPTION_KEYS lacks keys that hold sealed values, which cannot be read: ${named.join(', ')}. Put them back after the first one; remit secrets status says more.`,
	)
}
