// Section `time-entries` measures the creation of an invoice from a hundred time entries, beside a plain create. The server
// claims each entry and records an event of it. Remit's own stores write the entries before the server starts.

import { requireOrganization } from '../server/src/accounts/organizations/store.ts'
import { createDeal } from '../server/src/billing/deals/store.ts'
import { createTimeEntry } from '../server/src/billing/time-entries/store.ts'
import { dayMs } from '../server/src/platform/base/dates.ts'
import { bySystem } from '../server/src/platform/base/origin.ts'
import type { Database } from '../server/src/platform/db/database.ts'
import { writingIn } from '../server/src/platform/db/write-context.ts'
import { type Call, measureCalls } from './calls.ts'
import type { Run } from './context.ts'
import { copyDatabase, withDatabase } from './databases.ts'
import { medianOf, ratio } from './measure.ts'
import { startRemit } from './remit.ts'
import { figureHeadings, figures, print, table, title } from './report.ts'

const [entryCount, taskCount, lineCount] = [100, 10, 10]

/** Enough of each in a round to take some tenths of a second, because the kernel counts CPU time in hundredths. */
const [invoicesInRound, createsInRound] = [40, 1_000]

export async function timeEntries(run: Run): Promise<void> {
	const folder = copyDatabase('time-entries', run.database)
	const calls = await withDatabase({ folder }, (db) => unbilled(db, run.seed.organizationId, (run.rounds + 1) * invoicesInRound))
	const creates = Array<Call>(createsInRound).fill(createOfLines)
	const [fromEntries, plain] = [`from ${entryCount} time entries`, `create with ${lineCount} lines`]
	const kinds = new Map([
		[fromEntries, (round: number) => calls.slice(round * invoicesInRound, (round + 1) * invoicesInRound)],
		[plain, () => creates],
	])
	const server = await startRemit('time-entries', run.server, { DATA_DIR: folder })
	const samples = await measureCalls(server, run, kinds)
	await server.stop()
	title(`An invoice from ${entryCount} time entries (${taskCount} lines), and one of ${lineCount} lines`)
	table(
		['', ...figureHeadings],
		[...samples.keys()].map((name) => [name, ...figures(samples, name)]),
	)
	const ms = medianOf(samples, fromEntries, ({ cpuMicros }) => cpuMicros) / 1000
	print(`- CPU of one from time entries: ${ms.toFixed(2)} ms, ${ratio(samples, plain, fromEntries).toFixed(1)} times the other\n`)
}

const createOfLines: Call = {
	method: 'POST',
	path: '/api/invoices',
	body: {
		currency: 'EUR',
		taxRate: 19,
		lineItems: Array.from({ length: lineCount }, (_, n) => ({
			description: `Task ${n}`,
			quantity: '7.5',
			unit: 'hour',
			unitPriceCents: 9_500 + n,
		})),
	},
}

/** Writes a deal with the time entries of `invoices` invoices; returns the calls that create these. */
function unbilled(db: Database, organizationId: string, invoices: number): Promise<Call[]> {
	const now = Date.now()
	return db.transaction(async (tx) => {
		const write = await writingIn(tx, bySystem(now), await requireOrganization(tx, organizationId))
		const deal = await createDeal(write, { name: 'Retainer', currency: 'EUR', hourlyRateCents: 9_500 })
		const made: Call[] = []
		for (let invoice = 0; invoice < invoices; invoice++) {
			const timeEntryIds: string[] = []
			for (let n = 0; n < entryCount; n++) {
				const startedAt = now - 30 * dayMs + n * 3_600_000
				const taskName = `Task ${n % taskCount}`
				const input = { dealId: deal.id, taskName, description: 'Basket and address', startedAt, endedAt: startedAt + 2_700_000 }
				timeEntryIds.push((await createTimeEntry(write, input)).id)
			}
			made.push({ method: 'POST', path: '/api/invoices/from-time-entries', body: { dealId: deal.id, timeEntryIds } })
		}
		return made
	})
}
