// What SQLite itself makes of the rows: the bytes of whole answers, and invoices whose transactions share a commit.
import type { ParsedUrlQuery } from 'node:querystring'
import { fields } from '../../server/src/generated/tables.ts'
import { loadSqlite, type Sqlite, type Statement } from '../server-modules.ts'
import { creator, derived, flags, matching, matchingWord, type NewInvoice, order, parsed, startOfDay } from './rows.ts'

const Database = loadSqlite()

/** SQL of a record's JSON. */
function jsonOf(names: object): string {
	const members = Object.keys(names).map((name) => {
		const value = derived[name] ?? `"${name}"`
		if (parsed.includes(name)) return `'${name}', json(coalesce(${value}, 'null'))`
		return `'${name}', ${flags.includes(name) ? `json(iif(${value}, 'true', 'false'))` : value}`
	})
	return `json_object(${members.join(', ')})`
}

const invoice = `${jsonOf(fields.Invoice)} as json`
const list = (rows: string) => `select cast('{"data":[' || coalesce(group_concat(json), '') || ']}' as blob) from (${rows})`

type Page = (limit: number) => Statement<unknown>

function pages(reader: Sqlite, sql: (limit: string) => string): Page {
	const prepared = new Map<number, Statement<unknown>>()
	return (limit) => {
		const known = prepared.get(limit) ?? reader.prepare(sql(`limit ${limit} offset +?`)).pluck()
		prepared.set(limit, known)
		return known
	}
}

interface Waiting {
	readonly organizationId: string
	readonly input: NewInvoice
	readonly answer: (created: { id: string; invoiceNumber: string }) => void
}

export class JsonRows {
	readonly #invoice: Statement<unknown>
	readonly #all: Page
	readonly #byStatus: Page
	readonly #search: Page
	readonly #countCompanies: Statement<unknown>
	readonly #commit: (all: readonly Waiting[]) => { id: string; invoiceNumber: string }[]
	#waiting: Waiting[] = []

	constructor(file: string) {
		const writer = new Database(file)
		writer.pragma('journal_mode = WAL')
		writer.pragma('synchronous = FULL')
		writer.pragma('foreign_keys = ON')
		const reader = new Database(file, { readonly: true })
		const ofOrganization = `from invoices where "organizationId" = +?`
		this.#invoice = reader
			.prepare(`select cast('{"data":' || json || '}' as blob) from (select ${invoice} ${ofOrganization} and id = +?)`)
			.pluck()
		this.#all = pages(reader, (page) => list(`select ${invoice} ${ofOrganization} ${order} ${page}`))
		this.#byStatus = pages(reader, (page) => list(`select ${invoice} ${ofOrganization} and status = +? ${order} ${page}`))
		const found = `select ${jsonOf(fields.Company)} as json from (select companies.* ${matching}) order by "sortName", id`
		this.#search = pages(reader, (page) => `select coalesce(group_concat(json), '') from (${found} ${page})`)
		this.#countCompanies = reader.prepare(`select count(*) ${matching}`).pluck()
		const create = creator(writer)
		this.#commit = writer.transaction((all: readonly Waiting[]) =>
			all.map(({ organizationId, input }) => create(organizationId, input)),
		).immediate
	}

	invoice(organizationId: string, id: string): Buffer | undefined {
		return this.#invoice.get(startOfDay(), organizationId, id) as Buffer | undefined
	}

	invoices(organizationId: string, { status, limit = '50', offset = '0' }: ParsedUrlQuery): Buffer {
		const [page, skip] = [Number(limit), Number(offset)]
		const values = [startOfDay(), organizationId, ...(status === undefined ? [] : [status]), skip]
		return (status === undefined ? this.#all : this.#byStatus)(page).get(...values) as Buffer
	}

	companies(organizationId: string, { search = '', limit = '50', offset = '0' }: ParsedUrlQuery): Buffer {
		const match = matchingWord(organizationId, search)
		const data = this.#search(Number(limit)).get(...match, Number(offset)) as string
		const total = Number(this.#countCompanies.get(...match))
		const hasMore = Number(offset) + Number(limit) < total
		const meta = `"total":${total},"limit":${limit},"offset":${offset},"hasMore":${hasMore},"nextCursor":null`
		return Buffer.from(`{"data":[${data}],"meta":{${meta}}}`)
	}

	/** Creates what one turn of the event loop has received with one commit. */
	create(organizationId: string, input: NewInvoice, answer: Waiting['answer']): void {
		if (this.#waiting.push({ organizationId, input, answer }) > 1) return
		setImmediate(() => {
			const all = this.#waiting
			this.#waiting = []
			const created = this.#commit(all)
			for (const [index, { answer }] of all.entries()) answer(created[index] as { id: string; invoiceNumber: string })
		})
	}
}
