// The data access of all rivals: prepared statements on a SQLite file, and a cached key check. It is as fast as its author could
// make it: one connection writes and one reads, statements are prepared once, limits are literals, and comparisons have `+?`, because
// SQLite plans a statement again for each value of a bound limit, and for other values beside an indexed column. Rows are objects,
// which the rivals turn into JSON; but one gets JSON from SQLite (rows-json.ts).
import { hash } from 'node:crypto'
import type { ParsedUrlQuery } from 'node:querystring'
import { fields } from '../../server/src/generated/tables.ts'
import { newId } from '../../server/src/platform/base/ids.ts'
import { fold } from '../../server/src/platform/base/search-words.ts'
import { loadSqlite, type Sqlite, type Statement } from '../server-modules.ts'

const Database = loadSqlite()

export type Row = Record<string, unknown>

export interface NewInvoice {
	readonly totalCents?: number
	readonly currency?: string
	readonly dueDate?: string
}

const dayMs = 86_400_000

const settled = '"amountPaidCents" + "amountCreditedCents"'
const isCovered = `(("totalCents" > 0 and ${settled} >= "totalCents") or ("totalCents" < 0 and ${settled} <= "totalCents"))`

export const derived: Record<string, string> = {
	isOverdue: `(status in ('sent', 'overdue') and not ${isCovered} and "dueDate" is not null and "dueDate" < +?)`,
	amountDueCents: `case when status = 'cancelled' then 0 else "totalCents" - ${settled.replace(' + ', ' - ')} end`,
	paymentState: `case when ${isCovered} or ("totalCents" = 0 and status = 'paid') then 'paid'
		when "amountPaidCents" = 0 then 'unpaid' else 'partially_paid' end`,
}
const columns = (names: object) =>
	Object.keys(names)
		.map((name) => (name in derived ? `${derived[name]} as "${name}"` : `"${name}"`))
		.join(', ')

// It begins with the matches: the first word of a name has an entry with a `=` in front. The searches of the bench are one word.
const range = `select id from search_words where "organizationId" = +? and kind = 'company' and word >= +? and word < +?`
export const matching = `from (${range} union ${range}) as found cross join companies
	where companies."organizationId" = +? and companies.id = found.id and "deletedAt" is null`

/** The parameters of `matching`. */
export function matchingWord(organizationId: string, search: unknown): string[] {
	const word = fold(String(search))
	return [organizationId, `=${word}`, `=${word}\u{10ffff}`, organizationId, word, `${word}\u{10ffff}`, organizationId]
}

const invoices = `select ${columns(fields.Invoice)} from invoices where "organizationId" = +?`
export const order = 'order by "createdAt" desc, "id" desc'
const statements = {
	invoice: `${invoices} and "id" = +?`,
	all: `${invoices} ${order}`,
	byStatus: `${invoices} and "status" = +? ${order}`,
	search: `select ${columns(fields.Company)} from (select companies.* ${matching}) order by "sortName", "id"`,
}

const insertInvoice = `insert into invoices ("organizationId", "id", "invoiceNumber", "status", "dueDate", "paidDateDerived",
	"subtotalCents", "taxRate", "taxLabel", "taxCents", "totalCents", "currency", "showRateBreakdown", "includeTimesheet",
	"taxRounding", "lineItems", "taxBreakdown", "amountPaidCents", "createdAt", "updatedAt", "version")
	values (?, ?, ?, 'draft', ?, 0, 0, 0, 'Tax', 0, ?, ?, 0, 0, 'document', '[]', '[]', 0, ?, ?, 1)`

export class Rows {
	readonly #invoice: Statement<Row>
	readonly #findKey: Statement<{ organizationId: string }>
	readonly #countCompanies: Statement<{ total: number }>
	readonly #create: (organizationId: string, input: NewInvoice) => { id: string; invoiceNumber: string }
	readonly #all: Page
	readonly #byStatus: Page
	readonly #search: Page
	readonly #organizations = new Map<string, string>()

	constructor(file: string) {
		const writer = new Database(file)
		writer.pragma('journal_mode = WAL')
		writer.pragma('synchronous = FULL')
		writer.pragma('foreign_keys = ON')
		const reader = new Database(file, { readonly: true })
		this.#invoice = reader.prepare(statements.invoice)
		this.#findKey = reader.prepare('select "organizationId" from api_keys where "hash" = +? and "revokedAt" is null')
		this.#countCompanies = reader.prepare(`select count(*) as total ${matching}`)
		this.#all = pages(reader, statements.all)
		this.#byStatus = pages(reader, statements.byStatus)
		this.#search = pages(reader, statements.search)
		this.#create = creator(writer)
	}

	/** The organization of a key; undefined for an unknown key. */
	organizationOf(authorization = ''): string | undefined {
		const keyHash = hash('sha256', authorization.slice('Bearer '.length), 'base64url')
		const known = this.#organizations.get(keyHash)
		if (known !== undefined) return known
		const organizationId = this.#findKey.get(keyHash)?.organizationId
		if (organizationId !== undefined) this.#organizations.set(keyHash, organizationId)
		return organizationId
	}

	invoice(organizationId: string, id: string): Row | undefined {
		const row = this.#invoice.get(startOfDay(), organizationId, id)
		return row && revive(row)
	}

	invoices(organizationId: string, { status, limit = '50', offset = '0' }: ParsedUrlQuery): Row[] {
		const [size, skip] = [Number(limit), Number(offset)]
		const rows =
			status === undefined
				? this.#all(size).all(startOfDay(), organizationId, skip)
				: this.#byStatus(size).all(startOfDay(), organizationId, status, skip)
		for (const row of rows) revive(row)
		return rows
	}

	/** A page of the live companies that match, by name, and their total. */
	companies(organizationId: string, { search = '', limit: size = '50', offset: skip = '0' }: ParsedUrlQuery) {
		const match = matchingWord(organizationId, search)
		const [limit, offset] = [Number(size), Number(skip)]
		const data = this.#search(limit).all(...match, offset)
		const isLast = data.length > 0 && data.length < limit
		const total = isLast ? offset + data.length : (this.#countCompanies.get(...match)?.total ?? 0)
		return { data, meta: { total, limit, offset, hasMore: offset + data.length < total, nextCursor: null } }
	}

	create(organizationId: string, input: NewInvoice): { id: string; invoiceNumber: string } {
		return this.#create(organizationId, input)
	}
}

type Page = (limit: number) => Statement<Row>

/** Prepares one statement for each limit. */
function pages(reader: Sqlite, sql: string): Page {
	const prepared = new Map<number, Statement<Row>>()
	return (limit) => {
		let statement = prepared.get(limit)
		if (!statement) {
			statement = reader.prepare<Row>(`${sql} limit ${limit} offset +?`)
			prepared.set(limit, statement)
		}
		return statement
	}
}

/** The benchmark's organizations have the time zone UTC. */
export const startOfDay = () => Math.floor(Date.now() / dayMs) * dayMs

/** Creates each invoice, its number and its row, in a transaction of its own. */
export function creator(writer: Sqlite) {
	const takeNumber = writer.prepare<{ next: number }>(
		`update organizations set "nextInvoiceNumber" = "nextInvoiceNumber" + 1 where "organizationId" = +?
			returning "nextInvoiceNumber" as next`,
	)
	const insert = writer.prepare(insertInvoice)
	return writer.transaction((organizationId: string, { totalCents = 0, currency = 'USD', dueDate }: NewInvoice) => {
		const next = takeNumber.get(organizationId)?.next ?? 0
		const invoiceNumber = `INV-${String(next - 1).padStart(4, '0')}`
		const id = newId('inv')
		const now = Date.now()
		const due = dueDate === undefined ? null : Date.parse(dueDate)
		insert.run(organizationId, id, invoiceNumber, due, totalCents, currency, now, now)
		return { id, invoiceNumber }
	}).immediate
}

const ofType = (wanted: string) =>
	Object.entries(fields.Invoice)
		.filter(([, type]) => type === wanted)
		.map(([name]) => name)
export const [flags, parsed] = [ofType('boolean'), ofType('json')]

/** Converts the values of SQLite into those of the contract, in place, which keeps the order of the fields. */
function revive(row: Row): Row {
	for (const name of flags) row[name] = row[name] === 1
	for (const name of parsed) row[name] = parse(row[name])
	return row
}

function parse(text: unknown): unknown {
	if (text === null) return null
	return text === '[]' ? [] : JSON.parse(text as string)
}
