// A fake of the part of Stripe's API that reads and writes customers and invoices. https://docs.stripe.com/api

import { stripeSecret } from '../leaks.ts'
import { signWebhook } from '../stripe.ts'
import type { Change, Json, Records, Stored } from './records.ts'
import { type Call, formOf, headerOf, IdempotentReplies, Refusal, type Reply } from './reply.ts'
import { type Form, fieldsOf, pageOf, seconds, stripeError } from './stripe-forms.ts'
import { Tokens } from './tokens.ts'
import { Vendor } from './vendor.ts'
import type { Delivery } from './webhooks.ts'

type ObjectName = 'customers' | 'invoices'

const kinds = { customers: 'customer', invoices: 'invoice' } as const
const writable = {
	customers: ['address', 'description', 'email', 'metadata', 'name', 'phone', 'shipping', 'tax_exempt', 'preferred_locales'],
	invoices: [
		...['auto_advance', 'collection_method', 'currency', 'customer', 'days_until_due', 'description', 'due_date', 'footer'],
		...['metadata', 'number', 'statement_descriptor'],
	],
}

const numbered = (prefix: string) => (n: number) => `${prefix}_${String(n).padStart(14, '0')}`

export class FakeStripe extends Vendor {
	readonly token = stripeSecret('sk_test')
	webhookSecret = stripeSecret('whsec_test')
	/** Nothing here is refreshed: the tokens of Stripe are keys. */
	readonly tokens = new Tokens({ now: () => this.clock(), rotates: false, lifetimeMs: Number.POSITIVE_INFINITY, idleMs: 0 })
	readonly customers = this.store('customers', { id: numbered('cus'), order: newestFirst })
	readonly invoices = this.store('invoices', { id: numbered('in'), order: newestFirst })
	readonly #idempotent = new IdempotentReplies()

	constructor() {
		super()
		this.tokens.allow(this.token)
		for (const name of ['customers', 'invoices'] as const) {
			const path = `/v1/${name}`
			this.route('GET', path, (call) => this.#list(name, call))
			this.route('POST', path, (call) => this.#once(call, () => this.#create(name, call)))
			this.route('GET', `${path}/{id}`, (_, id) => this.#read(name, id))
			this.route('POST', `${path}/{id}`, (call, id) => this.#once(call, () => this.#update(name, call, id)))
			this.route('DELETE', `${path}/{id}`, (_, id) => this.#delete(name, id))
		}
		this.route('GET', '/v1/events', (call) => this.#events(call))
		this.route('GET', '/v1/account', () => this.#account())
	}

	get settings() {
		return { PROVIDER_STRIPE_BASE_URL: this.url }
	}

	#account(): Reply {
		const settings = { dashboard: { display_name: 'Remit Test', timezone: 'Etc/UTC' } }
		return {
			status: 200,
			json: { id: 'acct_1HqLyjWDarjtT1zd', object: 'account', country: 'DE', default_currency: 'eur', settings },
		}
	}

	#once(call: Call, handle: () => Reply): Reply {
		const message = 'Keys for idempotent requests can only be used with the same parameters they were first used with.'
		const mismatch = () => stripeError(400, message, { type: 'idempotency_error' })
		return this.#idempotent.answer(call, handle, mismatch)
	}

	#recordsOf(name: ObjectName): Records {
		return name === 'customers' ? this.customers : this.invoices
	}

	#list(name: ObjectName, { query }: Call): Reply {
		const filters = ['email', 'customer', 'status'].filter((field) => query.has(field))
		const all = this.#recordsOf(name)
			.list()
			.filter(({ isRemoved, data }) => !isRemoved && filters.every((field) => data[field] === query.get(field)))
		return pageOf({ url: `/v1/${name}`, kind: kinds[name], all, present: (record) => this.#present(name, record) }, query)
	}

	#read(name: ObjectName, id: string): Reply {
		const record = this.#recordsOf(name).get(id)
		// Of a customer it is still told that there was one.
		if (!record || (record.isRemoved && name === 'invoices')) throw missing(name, id)
		return { status: 200, json: record.isRemoved ? deleted(name, id) : this.#present(name, record) }
	}

	#create(name: ObjectName, call: Call): Reply {
		const fields = this.#checked(name, call)
		if (name === 'invoices' && fields.customer === undefined) {
			throw new Refusal(stripeError(400, 'Missing required param: customer.', { code: 'parameter_missing', param: 'customer' }))
		}
		return { status: 200, json: this.#present(name, this.#recordsOf(name).put(fields)) }
	}

	#update(name: ObjectName, call: Call, id: string): Reply {
		const record = this.#recordsOf(name).get(id)
		if (!record || record.isRemoved) throw missing(name, id)
		const { metadata, ...fields } = this.#checked(name, call)
		const merged = metadata ? { metadata: { ...(record.data.metadata as Json), ...(metadata as Json) } } : {}
		return { status: 200, json: this.#present(name, this.#recordsOf(name).change(id, { ...fields, ...merged })) }
	}

	#delete(name: ObjectName, id: string): Reply {
		const record = this.#recordsOf(name).get(id)
		if (!record || record.isRemoved) throw missing(name, id)
		if (name === 'invoices' && (record.data.status ?? 'draft') !== 'draft') {
			throw new Refusal(stripeError(400, 'You can only delete draft invoices.', { code: 'invoice_not_editable' }))
		}
		this.#recordsOf(name).remove(id)
		return { status: 200, json: deleted(name, id) }
	}

	#checked(name: ObjectName, call: Call): Form {
		const fields = fieldsOf(formOf(call))
		const unknown = Object.keys(fields).find((field) => !writable[name].includes(field))
		if (unknown !== undefined) {
			throw new Refusal(stripeError(400, `Received unknown parameter: ${unknown}`, { code: 'parameter_unknown', param: unknown }))
		}
		const { email, customer } = fields
		if (typeof email === 'string' && !/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(email)) {
			throw new Refusal(stripeError(400, `Invalid email address: ${email}`, { code: 'email_invalid', param: 'email' }))
		}
		const owner = typeof customer === 'string' ? this.customers.get(customer) : undefined
		if (customer !== undefined && (!owner || owner.isRemoved)) throw missing('customers', String(customer), 400, 'customer')
		return fields
	}

	/** Stripe keeps events for 30 days. */
	#events({ query }: Call): Reply {
		const types = [...query.getAll('types[]'), ...query.getAll('type')]
		const oldest = this.clock() - 30 * 86_400_000
		const all = this.changes
			.map((change) => ({ id: eventId(change), createdAt: change.record.updatedAt, type: typeOf(change), change }))
			.filter(({ type, createdAt }) => createdAt > oldest && (types.length === 0 || types.some(matches(type))))
			.reverse()
		return pageOf({ url: '/v1/events', kind: 'event', all, present: ({ change }) => this.#eventOf(change) }, query)
	}

	#eventOf(change: Change): Json {
		const { object, record } = change
		return {
			id: eventId(change),
			object: 'event',
			type: typeOf(change),
			created: seconds(record.updatedAt),
			livemode: false,
			data: { object: this.#present(object as ObjectName, record) },
		}
	}

	#present(name: ObjectName, { id, createdAt, data }: Stored): Json {
		const own = { id, object: kinds[name], created: seconds(createdAt), livemode: false }
		return { ...own, ...(name === 'customers' ? blankCustomer : blankInvoice), ...data }
	}

	protected sample(object: string, n: number): Json {
		if (object === 'customers') {
			return { name: `Customer ${n}`, email: `customer-${n}@example.com`, address: { country: ['DE', 'JP', 'US'][n % 3] } }
		}
		const customers = this.customers.list().toReversed()
		const total = n * 1013
		// In yen, which has no smaller unit, these are yen.
		const currency = ['eur', 'jpy', 'usd'][n % 3]
		const amounts = { total, subtotal: total, amount_due: total, amount_remaining: total, amount_paid: 0 }
		return { ...amounts, currency, customer: customers[n % customers.length]?.id, number: `F-${n}`, status: 'open' }
	}

	protected touch(pageRecord: unknown): void {
		const { id, object } = pageRecord as { id: string; object: string }
		if (object !== 'event') this.records(`${object}s`).change(id, {})
	}

	protected notFound({ method, path }: Call): Reply {
		return stripeError(404, `Unrecognized request URL (${method}: ${path}).`)
	}

	protected unauthorized(reason: 'missing' | 'unknown' | 'expired'): Reply {
		if (reason === 'missing') return stripeError(401, 'You did not provide an API key.')
		if (reason === 'expired') return stripeError(401, 'Expired API Key provided: sk_test_****', { code: 'api_key_expired' })
		return stripeError(401, 'Invalid API Key provided: sk_test_****')
	}

	protected rateLimited(): Reply {
		return stripeError(429, 'Request rate limit exceeded.', { code: 'rate_limit' })
	}

	protected failed(status: number): Reply {
		return stripeError(status, 'An unknown error occurred', { type: 'api_error' })
	}

	protected isLaterPage({ query }: Call): boolean {
		return query.has('starting_after') || query.has('ending_before')
	}

	/** The record that a call names was deleted: https://github.com/stripe/stripe-go/issues/1030 */
	protected cursorExpired({ path, query }: Call): Reply {
		const param = query.has('starting_after') ? 'starting_after' : 'ending_before'
		const name = path.endsWith('/invoices') ? 'invoices' : 'customers'
		return missing(name, query.get(param) ?? '', 400, param).reply
	}

	protected headersOf(call: Call): Record<string, string> {
		const key = headerOf(call, 'idempotency-key')
		return { 'Request-Id': `req_${this.log.length}`, 'Stripe-Version': '2026-08-26', ...(key && { 'Idempotency-Key': key }) }
	}

	protected webhooksOf(changes: readonly Change[]): Delivery[] {
		return changes.map((change) => {
			const event = JSON.stringify({ ...this.#eventOf(change), api_version: '2026-08-26', pending_webhooks: 1 })
			const { headers } = signWebhook(event, this.clock(), this.webhookSecret)
			return { body: event, headers }
		})
	}
}

/** Ids rise, so they tell the order within a millisecond. */
function newestFirst(a: Stored, b: Stored): number {
	return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)
}

const eventId = ({ number }: Change) => numbered('evt')(number)

const typeOf = ({ object, type }: Change) => `${kinds[object as ObjectName]}.${type}`

const matches = (type: string) => (pattern: string) =>
	pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern

const deleted = (name: ObjectName, id: string): Json => ({ id, object: kinds[name], deleted: true })

const missing = (name: ObjectName, id: string, status = 404, param = 'id'): Refusal =>
	new Refusal(stripeError(status, `No such ${kinds[name]}: '${id}'`, { code: 'resource_missing', param }))

const blankCustomer = {
	...{ address: null, balance: 0, currency: null, default_source: null, delinquent: false, description: null, email: null },
	...{ invoice_prefix: null, metadata: {}, name: null, phone: null, preferred_locales: [], shipping: null, tax_exempt: 'none' },
}

const blankInvoice = {
	...{ amount_due: 0, amount_paid: 0, amount_remaining: 0, auto_advance: false, collection_method: 'charge_automatically' },
	...{ currency: 'eur', customer: null, description: null, due_date: null, metadata: {}, number: null, status: 'draft' },
	...{ subtotal: 0, total: 0, lines: { object: 'list', data: [], has_more: false } },
}
