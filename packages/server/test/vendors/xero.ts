// A fake of the part of Xero's API that reads and writes contacts and invoices, together with its identity server.
// https://developer.xero.com/documentation/api/accounting/overview
import { randomUUID } from 'node:crypto'
import { secret } from '../leaks.ts'
import type { Change, Json, Records, Stored } from './records.ts'
import { Allowance, type Call, headerOf, IdempotentReplies, jsonOf, Refusal, type Reply } from './reply.ts'
import { Tokens } from './tokens.ts'
import { Vendor } from './vendor.ts'
import { type Delivery, deliver, hmac } from './webhooks.ts'
import { type Written, writeContact, writeInvoice } from './xero-invoices.ts'
import { parseOrder, parseWhere } from './xero-where.ts'

type ObjectName = 'Contacts' | 'Invoices'

const statusFields = { Contacts: 'ContactStatus', Invoices: 'Status' } as const
const idFields = { Contacts: 'ContactID', Invoices: 'InvoiceID' } as const

/** Numbered ids of the form of a GUID; `kind` is their first digit. */
const guid = (kind: number) => (n: number) => `${kind}0000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`

export class FakeXero extends Vendor {
	readonly token = secret('of-xero')
	webhookSecret = secret('of-the-webhook')
	tenants = [{ tenantId: guid(9)(1), tenantName: 'Demo Company (NZ)' }]
	/** What is wrong with a record that is written; undefined: nothing. */
	validationRule: (record: Readonly<Json>) => string | undefined = () => undefined
	readonly tokens = new Tokens({
		now: () => this.clock(),
		rotates: true,
		lifetimeMs: 1_800_000,
		idleMs: 60 * 86_400_000,
		extra: { scope: 'offline_access accounting.contacts accounting.invoices accounting.payments' },
	})
	override readonly allowances = [
		new Allowance('appminute', 10_000, 60_000),
		new Allowance('minute', 60, 60_000),
		new Allowance('day', 1000, 86_400_000),
	] as const
	readonly contacts = this.store('contacts', { id: guid(1), order: byChange })
	readonly invoices = this.store('invoices', { id: guid(2), order: byChange })
	readonly #idempotent = new IdempotentReplies()

	constructor() {
		super()
		this.tokens.allow(this.token)
		for (const name of ['Contacts', 'Invoices'] as const) {
			const path = `/api.xro/2.0/${name}`
			this.route(
				'GET',
				path,
				this.#ofTenant((call) => this.#list(name, call)),
			)
			this.route(
				'GET',
				`${path}/{id}`,
				this.#ofTenant((_, id) => this.#read(name, id)),
			)
			this.route(
				'POST',
				path,
				this.#ofTenant((call) => this.#writeOnce(name, call)),
			)
			this.route(
				'POST',
				`${path}/{id}`,
				this.#ofTenant((call, id) => this.#writeOnce(name, call, id)),
			)
			this.route(
				'PUT',
				path,
				this.#ofTenant((call) => this.#writeOnce(name, call)),
			)
		}
		this.route('GET', '/connections', () => this.#connections())
		this.openRoute('GET', '/identity/connect/authorize', (call) => this.tokens.authorize(call))
		this.openRoute('POST', '/connect/token', (call) => this.tokens.token(call))
		this.openRoute('POST', '/connect/revocation', (call) => this.tokens.revocation(call))
	}

	get settings() {
		return {
			PROVIDER_XERO_BASE_URL: this.url,
			PROVIDER_XERO_CLIENT_ID: this.tokens.client.id,
			PROVIDER_XERO_CLIENT_SECRET: this.tokens.client.secret,
			PROVIDER_XERO_AUTHORIZATION_URL: `${this.url}/identity/connect/authorize`,
			PROVIDER_XERO_TOKEN_URL: `${this.url}/connect/token`,
		}
	}

	#ofTenant(handler: (call: Call, id: string) => Reply) {
		return (call: Call, id: string): Reply => {
			const isKnown = this.tenants.some(({ tenantId }) => tenantId === headerOf(call, 'xero-tenant-id'))
			return isKnown ? handler(call, id) : problem(403, 'Forbidden', 'AuthenticationUnsuccessful')
		}
	}

	#recordsOf(name: ObjectName): Records {
		return name === 'Contacts' ? this.contacts : this.invoices
	}

	#connections(): Reply {
		const at = { createdDateUtc: '2026-01-01T00:00:00.0000000', updatedDateUtc: '2026-01-01T00:00:00.0000000' }
		const connections = this.tenants.map((tenant, n) => ({ id: guid(8)(n + 1), ...tenant, tenantType: 'ORGANISATION', ...at }))
		return { status: 200, json: connections }
	}

	#list(name: ObjectName, call: Call): Reply {
		const { query } = call
		const page = Number(query.get('page') ?? 1)
		const pageSize = Math.min(1000, Number(query.get('pageSize') ?? 100))
		const since = sinceOf(headerOf(call, 'if-modified-since'))
		const ids = query.get('IDs')?.split(',')
		const includesArchived = query.get('includeArchived') === 'true'
		let found = this.#recordsOf(name)
			.list()
			.filter(({ id, updatedAt }) => updatedAt > since && (ids?.includes(id) ?? true))
			.filter((record) => includesArchived || statusOf(name, record) !== 'ARCHIVED')
		const where = query.get('where')
		const order = query.get('order')
		if (where) {
			const fits = parseWhere(where)
			found = found.filter((record) => fits(this.#present(name, record)))
		}
		if (order) {
			const compare = parseOrder(order)
			found.sort((a, b) => compare(this.#present(name, a), this.#present(name, b)))
		}
		const records = found.slice((page - 1) * pageSize, page * pageSize).map((record) => this.#present(name, record))
		const pagination = { page, pageSize, pageCount: Math.ceil(found.length / pageSize), itemCount: found.length }
		return { status: 200, json: this.#envelope(name, records, { pagination }), page: records }
	}

	#read(name: ObjectName, id: string): Reply {
		const record = this.#recordsOf(name).get(id)
		if (!record) return this.notFound()
		return { status: 200, json: this.#envelope(name, [this.#present(name, record)]) }
	}

	#writeOnce(name: ObjectName, call: Call, id?: string): Reply {
		const mismatch = () => badRequest('Idempotency-Key was used before with another request', [])
		return this.#idempotent.answer(call, () => this.#write(name, call, id), mismatch)
	}

	/** With `summarizeErrors`, the default, one bad record refuses them all. */
	#write(name: ObjectName, call: Call, id?: string): Reply {
		const body = jsonOf(call)
		const inputs = ((body[name] as Json[] | undefined) ?? [body]).map((input) =>
			id ? { ...input, [idFields[name]]: id } : input,
		)
		const summarizes = call.query.get('summarizeErrors') !== 'false'
		const checked = inputs.map((input) => ({ input, ...this.#check(name, input, call.method) }))
		const failed = checked.filter(({ errors }) => errors.length > 0)
		const elements = failed.map(({ input, errors }) => ({ ...input, ValidationErrors: errors.map((Message) => ({ Message })) }))
		if (summarizes && failed.length > 0) throw new Refusal(badRequest('A validation exception occurred', elements))
		const written = checked.map(({ input, errors }) => {
			const ValidationErrors = errors.map((Message) => ({ Message }))
			if (errors.length > 0) return { ...input, HasValidationErrors: true, StatusAttributeString: 'ERROR', ValidationErrors }
			return { ...this.#save(name, input, call.method), ...(!summarizes && { StatusAttributeString: 'OK' }) }
		})
		return { status: 200, json: this.#envelope(name, written) }
	}

	#known(name: ObjectName, input: Json, method: string): Stored | undefined {
		if (method === 'PUT') return undefined
		const records = this.#recordsOf(name)
		const id = input[idFields[name]]
		if (id !== undefined) return records.get(String(id))
		const number = name === 'Contacts' ? 'ContactNumber' : 'InvoiceNumber'
		return input[number] === undefined ? undefined : records.list().find(({ data }) => data[number] === input[number])
	}

	#check(name: ObjectName, input: Json, method: string): Written {
		const known = this.#known(name, input, method)
		if (!known && method !== 'PUT' && input[idFields[name]] !== undefined) {
			return { data: {}, errors: [`The ${idFields[name]} is not of a record of this organisation.`] }
		}
		const stored = known && { ...known, data: { ...known.data, [statusFields[name]]: statusOf(name, known) } }
		const others = this.#recordsOf(name).list()
		const { data, errors } =
			name === 'Contacts' ? writeContact(input, stored, others) : writeInvoice(input, stored, others, this.contacts)
		const mistake = this.validationRule(data)
		return { data, errors: mistake === undefined ? errors : [...errors, mistake] }
	}

	#save(name: ObjectName, input: Json, method: string): Json {
		const { data } = this.#check(name, input, method)
		const known = this.#known(name, input, method)
		return this.#present(name, this.#recordsOf(name).put(data, { id: known?.id }))
	}

	#envelope(name: ObjectName, records: unknown[], more: Json = {}): Json {
		return {
			Id: randomUUID(),
			Status: 'OK',
			ProviderName: 'Remit',
			DateTimeUTC: `/Date(${this.clock()})/`,
			...more,
			[name]: records,
		}
	}

	#present(name: ObjectName, record: Stored): Json {
		const own = { [statusFields[name]]: statusOf(name, record), [idFields[name]]: record.id }
		const shown: Json = { ...record.data, ...own, UpdatedDateUTC: xeroDate(record.updatedAt) }
		for (const field of ['Date', 'DueDate']) {
			const text = shown[field]
			if (typeof text !== 'string' || text.startsWith('/')) continue
			shown[`${field}String`] = `${text.slice(0, 10)}T00:00:00`
			shown[field] = xeroDate(Date.parse(text.slice(0, 10)))
		}
		const { ContactID } = (shown.Contact ?? {}) as Json
		if (ContactID) shown.Contact = { ContactID, Name: this.contacts.get(String(ContactID))?.data.Name }
		return shown
	}

	protected sample(object: string, n: number): Json {
		if (object === 'contacts') {
			return { Name: `Contact ${n}`, EmailAddress: `contact-${n}@example.com`, ContactStatus: 'ACTIVE', TaxNumber: `NZ${n}` }
		}
		const contacts = this.contacts.list()
		const ContactID = contacts[n % Math.max(1, contacts.length)]?.id
		const Total = (n * 1013) / 100
		return {
			...{ Type: 'ACCREC', InvoiceNumber: `INV-${n}`, Status: 'AUTHORISED', CurrencyCode: 'NZD', Contact: { ContactID } },
			...{ Date: '2026-01-31', DueDate: '2026-02-28', SubTotal: Total, TotalTax: 0, Total, AmountDue: Total, AmountPaid: 0 },
			...{ AmountCredited: 0, LineAmountTypes: 'Exclusive', LineItems: [] },
		}
	}

	protected touch(pageRecord: unknown): void {
		const { ContactID, InvoiceID } = pageRecord as Json
		if (InvoiceID) this.invoices.change(String(InvoiceID), {})
		else this.contacts.change(String(ContactID), {})
	}

	protected notFound(): Reply {
		return problem(404, 'NotFound', "The resource you're looking for cannot be found")
	}

	protected unauthorized(reason: 'missing' | 'unknown' | 'expired'): Reply {
		const detail = reason === 'expired' ? 'TokenExpired: token expired at 01/01/2026 00:00:00' : 'AuthenticationUnsuccessful'
		return problem(401, 'Unauthorized', detail)
	}

	protected rateLimited(name: string): Reply {
		return { ...problem(429, 'Too Many Requests', `The ${name} limit is exceeded`), headers: { 'X-Rate-Limit-Problem': name } }
	}

	protected failed(status: number): Reply {
		return problem(status, 'An error occurred', 'An error occurred in Xero. Check the API Status page.')
	}

	protected isLaterPage({ query }: Call): boolean {
		return Number(query.get('page') ?? 1) > 1
	}

	/** Pages have numbers. */
	protected cursorExpired(): null {
		return null
	}

	protected headersOf({ path }: Call): Record<string, string> {
		if (!path.startsWith('/api.xro/')) return {}
		const [appMinute, minute, day] = this.allowances
		return {
			'X-AppMinLimit-Remaining': String(appMinute.left),
			'X-MinLimit-Remaining': String(minute.left),
			'X-DayLimit-Remaining': String(day.left),
		}
	}

	/** https://developer.xero.com/documentation/guides/webhooks/overview */
	protected webhooksOf(changes: readonly Change[]): Delivery[] {
		return changes.map((change) => this.#signed({ events: [this.#eventOf(change)], ...sequence(change.number, change.number) }))
	}

	#eventOf({ object, type, record }: Change): Json {
		const name = object === 'contacts' ? 'Contacts' : 'Invoices'
		return {
			resourceUrl: `https://api.xero.com/api.xro/2.0/${name}/${record.id}`,
			resourceId: record.id,
			eventDateUtc: new Date(record.updatedAt).toISOString().slice(0, -1),
			eventType: type === 'created' ? 'CREATE' : 'UPDATE',
			eventCategory: object === 'contacts' ? 'CONTACT' : 'INVOICE',
			tenantId: this.tenants[0]?.tenantId,
			tenantType: 'ORGANISATION',
		}
	}

	#signed(payload: Json, secret = this.webhookSecret): Delivery {
		const body = JSON.stringify(payload)
		return { body, headers: { 'x-xero-signature': hmac(secret, body) } }
	}

	/** Xero sends events only to a URL that answers 200 to a good signature and 401 to a bad one; true if it does. */
	async intentToReceive(url: string): Promise<boolean> {
		const payload = { events: [], ...sequence(0, 0) }
		const statuses = await deliver(url, [this.#signed(payload), this.#signed(payload, 'another key')])
		return statuses.join() === '200,401'
	}
}

/** The order of Xero's lists by default. */
function byChange(a: Stored, b: Stored): number {
	return a.updatedAt - b.updatedAt || (a.id < b.id ? -1 : 1)
}

const xeroDate = (ms: number) => `/Date(${ms}+0000)/`

const sequence = (first: number, last: number) => ({
	firstEventSequence: first,
	lastEventSequence: last,
	entropy: `entropy-${first}`,
})

/** In seconds, of UTC where no zone is named; a header that cannot be read is passed over. */
function sinceOf(header: string | undefined): number {
	const text = header && /^\d{4}-\d\d-\d\dT[\d:.]+$/.test(header) ? `${header}Z` : header
	const time = Date.parse(text ?? '')
	return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : Math.floor(time / 1000) * 1000
}

/** Nothing is ever deleted: it gets a status. */
function statusOf(name: ObjectName, { data, isRemoved }: Stored): unknown {
	if (!isRemoved) return data[statusFields[name]]
	if (name === 'Contacts') return 'ARCHIVED'
	return data.Status === 'DRAFT' || data.Status === 'SUBMITTED' ? 'DELETED' : 'VOIDED'
}

const problem = (Status: number, Title: string, Detail: string): Reply => ({
	status: Status,
	json: { Type: null, Title, Status, Detail, Instance: randomUUID(), Extensions: {} },
})

const badRequest = (Message: string, Elements: unknown[]): Reply => ({
	status: 400,
	json: { ErrorNumber: 10, Type: 'ValidationException', Message, Elements },
})
