// A fake of the part of Stripe's API that takes payments, over HTTP: it creates, reads, expires and pays Checkout Sessions, and
// rejects what Stripe rejects, in Stripe's words. https://docs.stripe.com/api/checkout/sessions
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import Stripe from 'stripe'
import { stripeSecret } from './leaks.ts'

export interface StripeRequest {
	readonly method: string
	readonly path: string
	readonly headers: IncomingHttpHeaders
	/** The form with its keys as they are sent, such as `line_items[0][quantity]`. */
	readonly form: Readonly<Record<string, string>>
}

interface Refusal {
	readonly status: number
	readonly error: { readonly type: string; readonly message: string; readonly code?: string; readonly param?: string }
}

/** A failure instead of an answer: an error, silence, or a connection that is cut after the work is done. */
export type StripeFailure = Refusal | 'hang' | 'drop'

export interface StripeSession {
	readonly id: string
	readonly [field: string]: unknown
	status: 'open' | 'complete' | 'expired'
	payment_status: 'unpaid' | 'paid'
	payment_intent: string | null
}

const refusal = (status: number, message: string, more: object = {}): Refusal => ({
	status,
	error: { type: 'invalid_request_error', message, ...more },
})

export class FakeStripe {
	readonly secretKey = stripeSecret('sk_test')
	/** Keys of other accounts, which share the sessions of this fake. */
	readonly otherKeys: string[] = []
	readonly webhookSecret = stripeSecret('whsec_test')
	readonly requests: StripeRequest[] = []
	readonly sessions = new Map<string, StripeSession>()
	/** The next requests fail with these, one each. */
	readonly failures: StripeFailure[] = []
	readonly #answers = new Map<string, { readonly form: string; readonly body: string }>()
	readonly #server = createServer((request, response) => void this.#answer(request, response))
	#events = 0

	async start(): Promise<this> {
		await once(this.#server.listen(0, '127.0.0.1'), 'listening')
		return this
	}

	get apiBase(): string {
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
	}

	async stop(): Promise<void> {
		this.#server.closeAllConnections()
		await new Promise((resolve) => this.#server.close(resolve))
	}

	/** The payer finishes the page; a bank debit stays unpaid for now. */
	complete(id: string, payment: 'paid' | 'unpaid' = 'paid'): StripeSession {
		const session = this.#session(id)
		return Object.assign(session, { status: 'complete', payment_status: payment, payment_intent: `pi_${id.slice(8)}` })
	}

	/** Stripe's POST to a webhook endpoint about a Session as it is now. */
	deliver(type: string, id: string, at: number, secret = this.webhookSecret) {
		const created = Math.floor(at / 1000)
		const event = {
			id: `evt_${++this.#events}`,
			object: 'event',
			type,
			created,
			livemode: false,
			data: { object: this.#session(id) },
		}
		return signWebhook(JSON.stringify(event), at, secret)
	}

	#session(id: string): StripeSession {
		const session = this.sessions.get(id)
		if (!session) throw refusal(404, `No such checkout.session: ${id}`, { code: 'resource_missing', param: 'session' })
		return session
	}

	async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const { method = '', url: path = '', headers } = request
		const form = Object.fromEntries(new URLSearchParams(await text(request)))
		this.requests.push({ method, path, headers, form })
		const failure = this.failures.shift()
		if (failure === 'hang') return
		response.setHeaders(
			new Map([
				['Content-Type', 'application/json'],
				['Request-Id', `req_${this.requests.length}`],
			]),
		)
		try {
			if (failure && failure !== 'drop') throw failure
			const body = this.#reply(method, path, headers, form)
			if (failure) request.socket.destroy()
			else response.end(body)
		} catch (thrown) {
			const { status, error } = thrown as Refusal
			response.writeHead(status).end(JSON.stringify({ error }))
		}
	}

	#reply(method: string, path: string, headers: IncomingHttpHeaders, form: StripeRequest['form']): string {
		if (![this.secretKey, ...this.otherKeys].some((key) => headers.authorization === `Bearer ${key}`)) {
			throw refusal(401, `Invalid API Key provided: ${headers.authorization?.slice(7, 15)}****************`)
		}
		const [, id, expire] = /^\/v1\/checkout\/sessions(?:\/(\w+)(\/expire)?)?$/.exec(path) ?? []
		if (method === 'GET' && id && !expire) return JSON.stringify(this.#session(id))
		if (method !== 'POST' || (id && !expire)) throw refusal(404, `Unrecognized request URL (${method}: ${path}).`)
		const key = headers['idempotency-key']
		if (typeof key !== 'string') throw refusal(400, 'The fake Stripe wants an Idempotency-Key with every POST.')
		const known = this.#answers.get(key)
		if (known && known.form !== JSON.stringify(form)) {
			throw refusal(400, 'Keys for idempotent requests can only be used with the same parameters.', { type: 'idempotency_error' })
		}
		const body = known?.body ?? JSON.stringify(id ? this.#expire(id) : this.#create(form))
		this.#answers.set(key, { form: JSON.stringify(form), body })
		return body
	}

	#create(form: StripeRequest['form']): StripeSession {
		const { currency, amount } = readPrice(form)
		const created = Math.floor(Date.now() / 1000)
		const id = `cs_test_a1${String(this.sessions.size + 1).padStart(8, '0')}`
		const session: StripeSession = {
			id,
			object: 'checkout.session',
			amount_total: amount,
			client_reference_id: form.client_reference_id ?? null,
			created,
			currency,
			expires_at: created + 86_400,
			livemode: false,
			metadata: readMetadata(form),
			mode: form.mode,
			payment_intent: null,
			payment_method_types: ['card'],
			payment_status: 'unpaid',
			status: 'open',
			url: `https://checkout.stripe.com/c/pay/${id}`,
		}
		this.sessions.set(id, session)
		return session
	}

	#expire(id: string): StripeSession {
		const session = this.#session(id)
		if (session.status !== 'open') {
			const message = `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of \`${session.status}\`.`
			throw refusal(400, message)
		}
		return Object.assign(session, { status: 'expired', url: null })
	}
}

/** Headers and body of a webhook as Stripe signs it. */
export function signWebhook(payload: string, at: number, secret: string) {
	const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: at / 1000 })
	return {
		body: new TextEncoder().encode(payload),
		headers: { 'content-type': 'application/json', 'stripe-signature': signature },
	}
}

const supported = new Set('eur usd jpy kwd isk ugx mga'.split(' '))

/** Checks the currency's special rules and the minimum amount (https://docs.stripe.com/currencies). */
function readPrice(form: StripeRequest['form']): { currency: string; amount: number } {
	const price = 'line_items[0][price_data]'
	const currency = form[`${price}[currency]`] ?? ''
	if (!supported.has(currency)) throw refusal(400, `Invalid currency: ${currency}.`, { param: `${price}[currency]` })
	const amount = Number(form[`${price}[unit_amount]`])
	const multiple = { kwd: 10, isk: 100, ugx: 100 }[currency] ?? 1
	if (!Number.isInteger(amount / multiple) || amount < 0)
		throw refusal(400, 'Invalid non-negative integer', { param: `${price}[unit_amount]` })
	if (amount < 50) {
		const message = "The Checkout Session's total amount due must add up to at least $0.50 usd"
		throw refusal(400, message, { code: 'amount_too_small' })
	}
	return { currency, amount }
}

function readMetadata(form: StripeRequest['form']): Record<string, string> {
	const entries = Object.entries(form).map(([name, value]) => [/^metadata\[(\w+)\]$/.exec(name)?.[1], value] as const)
	return Object.fromEntries(entries.filter((entry): entry is readonly [string, string] => entry[0] !== undefined))
}
