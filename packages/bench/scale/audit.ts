// Compares what clients were answered with what the database holds and what the receiver of webhooks got.
import { setTimeout as sleep } from 'node:timers/promises'
import { loadPostgres } from '../server-modules.ts'
import type { Clients } from './clients.ts'
import type { Receiver } from './receiver.ts'

export interface Audit {
	/** Invoices and changes of them that were answered with success, and are not in the database. */
	readonly lost: number
	/** Invoices beyond the first with the same Idempotency-Key. */
	readonly doubled: number
	/** Numbers that are missing between the first and the last of an organization, or given twice. */
	readonly numbers: number
	/** Committed events that the receiver did not get. */
	readonly undelivered: number
}

const { Client } = loadPostgres()

async function rowsOf<Row>(url: string, sql: string): Promise<Row[]> {
	const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
	await client.connect()
	try {
		return ((await client.query(sql)) as { rows: Row[] }).rows
	} finally {
		await client.end()
	}
}

interface Invoice {
	readonly id: string
	readonly organizationId: string
	readonly invoiceNumber: string
	readonly notes: string | null
	readonly status: string
}

const patienceMs = 120_000

/** `url` is the database's own. */
export async function audit(url: string, { written }: Clients, { arrived }: Receiver): Promise<Audit> {
	const invoices = await rowsOf<Invoice>(url, 'select id, "organizationId", "invoiceNumber", notes, status from invoices')
	const statuses = new Map(invoices.map(({ id, status }) => [id, status]))
	const notes = invoices.flatMap(({ notes }) => notes ?? [])
	const events = await rowsOf<{ id: string }>(url, `select id from events where type like 'invoice.%'`)
	const missing = () => events.filter(({ id }) => !arrived.has(id)).length
	for (const began = performance.now(); missing() > 0 && performance.now() < began + patienceMs; ) await sleep(200)
	return {
		lost: written.filter(({ id, isSent }) => !statuses.has(id) || (isSent && statuses.get(id) !== 'sent')).length,
		doubled: notes.length - new Set(notes).size,
		numbers: wrongNumbers(invoices),
		undelivered: missing(),
	}
}

function wrongNumbers(invoices: readonly Invoice[]): number {
	let wrong = 0
	for (const own of Map.groupBy(invoices, ({ organizationId }) => organizationId).values()) {
		const numbers = own.map(({ invoiceNumber }) => Number(invoiceNumber.replace(/^\D+/, '')))
		wrong += numbers.length - new Set(numbers).size + Math.max(...numbers) - new Set(numbers).size
	}
	return wrong
}
