// Walks all rows of some tables once, as a job: each part stores how far it came.
import type { Job, JobHandler } from './jobs.ts'
import { inParts } from './parts.ts'

export interface RowKey {
	readonly organizationId: string
	readonly id: string
}

interface Place extends RowKey {
	/** The number of the table. */
	readonly table: number
}

const first = { organizationId: '', id: '' }

/** `read` returns the next rows of a table behind one, `write` stores what becomes of them together with the checkpoint. */
export const walk =
	<Table, Row extends RowKey>(
		tables: readonly Table[],
		read: (table: Table, after: RowKey) => Promise<readonly Row[]>,
		write: (job: Job, table: Table, rows: readonly Row[], checkpoint: string) => Promise<void>,
	): JobHandler =>
	async (job) => {
		let at: Place = job.checkpoint === null ? { table: 0, ...first } : JSON.parse(job.checkpoint)
		await inParts(async () => {
			const table = tables[at.table]
			if (table === undefined) return false
			const rows = await read(table, { organizationId: at.organizationId, id: at.id })
			const last = rows.at(-1)
			at = last ? { table: at.table, organizationId: last.organizationId, id: last.id } : { table: at.table + 1, ...first }
			await write(job, table, rows, JSON.stringify(at))
			return true
		}, job.signal)
		return at.table < tables.length ? { dueAt: job.now, checkpoint: JSON.stringify(at) } : undefined
	}
