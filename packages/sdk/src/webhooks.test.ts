import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest'
import { failure } from '../test/far-end.ts'
import { RemitError } from './errors.ts'
import type { Invoice, WebhookEndpoint, WebhookEvent } from './generated/contract.ts'
import { signTestWebhook, verifyWebhook, type WebhookHeaders, WebhookVerificationError } from './webhooks.ts'

/** The example of the Standard Webhooks specification. */
const published = {
	secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
	id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
	timestamp: 1614265330,
	body: '{"test": 2432232314}',
	signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}
const { secret } = published
const otherSecret = `whsec_${btoa('another secret of 32 bytes, yes!')}`
/** Instants in Unix milliseconds, at the start of a second. */
const now = published.timestamp * 1000

const event = {
	id: 'evt_1',
	type: 'webhook.test',
	timestamp: '2021-02-25T15:02:10.000Z',
	organizationId: 'org_1',
	resource: { type: 'webhook_endpoint', id: 'whe_1' },
	sequence: 1,
	actor: { type: 'system', id: null },
	data: { id: 'whe_1', description: 'Zürich → 東京 🧾' },
} as unknown as WebhookEvent

const signed = (what: WebhookEvent | string = event, key = secret) =>
	signTestWebhook(what, key, { timestamp: published.timestamp })
const verify = (body: string | Uint8Array | ArrayBuffer, headers: WebhookHeaders, key: string | readonly string[] = secret) =>
	verifyWebhook(body, headers, key, { now })

/** The code of the error with which verification fails. */
async function rejectionCode(call: Promise<unknown>): Promise<string> {
	const error = await failure(call)
	expect(error).toBeInstanceOf(WebhookVerificationError)
	expect(error).toBeInstanceOf(RemitError)
	expect(error.name).toBe('WebhookVerificationError')
	return (error as WebhookVerificationError).code
}

describe('the published example', () => {
	test('is signed as published', async () => {
		const { body, headers } = await signTestWebhook(published.body, secret, published)
		expect(body).toBe(published.body)
		expect(headers).toEqual({
			'content-type': 'application/json',
			'webhook-id': published.id,
			'webhook-timestamp': '1614265330',
			'webhook-signature': published.signature,
		})
	})

	test('passes every check except the last, because it is not an event', async () => {
		const { body, headers } = await signTestWebhook(published.body, secret, published)
		expect(await rejectionCode(verify(body, headers))).toBe('invalid_payload')
		expect(await rejectionCode(verify(`${body} `, headers))).toBe('no_match')
	})
})

describe('the library of Standard Webhooks', () => {
	test('verifies what we sign', async () => {
		const { body, headers } = await signTestWebhook(event, secret)
		expect(new Webhook(secret).verify(body, headers)).toEqual(event)
		expect(() => new Webhook(otherSecret).verify(body, headers)).toThrow('No matching signature')
	})

	test('signs what we verify', async () => {
		const body = JSON.stringify(event)
		const headers = {
			'webhook-id': event.id,
			'webhook-timestamp': `${published.timestamp}`,
			'webhook-signature': new Webhook(secret).sign(event.id, new Date(now), body),
		}
		expect(await verify(body, headers)).toEqual(event)
	})
})

describe('a webhook of Remit', () => {
	test('is signed with the event’s id and the time of the clock', async () => {
		const before = Math.floor(Date.now() / 1000)
		const { body, headers } = await signTestWebhook(event, secret)
		expect(headers['webhook-id']).toBe('evt_1')
		expect(Number(headers['webhook-timestamp'])).toBeGreaterThanOrEqual(before)
		expect(Number(headers['webhook-timestamp'])).toBeLessThanOrEqual(Date.now() / 1000)
		expect(await verifyWebhook(body, headers, secret)).toEqual(event)
	})

	test('gives an event whose type says what its data is', async () => {
		const { body, headers } = await signed()
		const found = await verify(body, headers)
		if (found.type === 'invoice.paid') expectTypeOf(found.data).toEqualTypeOf<Invoice>()
		if (found.type === 'webhook.test') expectTypeOf(found.data).toEqualTypeOf<WebhookEndpoint>()
		expect(found.type).toBe('webhook.test')
	})

	test('of a type that this version does not know is given too', async () => {
		const later = '{"id":"evt_2","type":"company.merged"}'
		const { body, headers } = await signed(later)
		expect(headers['webhook-id']).toBe('evt_test')
		expect(await verify(body, headers)).toEqual(JSON.parse(later))
	})

	test('arrives through Node’s HTTP server, its signatures in two headers', async () => {
		const [{ body, headers }, other] = await Promise.all([signed(), signed(event, otherSecret)])
		const server = createServer(async (request, response) => {
			const chunks: Buffer[] = []
			for await (const chunk of request) chunks.push(chunk)
			const found = await verify(Buffer.concat(chunks), request.headers).catch(String)
			response.end(JSON.stringify(found))
		})
		onTestFinished(() => void server.close())
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
		const sent = new Headers(headers)
		sent.set('webhook-signature', other.headers['webhook-signature'] ?? '')
		sent.append('webhook-signature', headers['webhook-signature'] ?? '')
		const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
		const answer = await fetch(url, { method: 'POST', body, headers: sent })
		expect(await answer.json()).toEqual(event)
	})
})

test.each([undefined, null, 'webhook-id: msg_1'])('headers that are %j are a mistake of the receiver', async (headers) => {
	const { body } = await signed()
	const error = await failure(verify(body, headers as unknown as WebhookHeaders))
	expect(error.constructor).toBe(RemitError)
	expect(error.message).toMatch(/^headers must be the headers of the request/)
})

describe('the raw body', () => {
	test('is a string, bytes, a part of a buffer or an ArrayBuffer', async () => {
		const { body, headers } = await signed()
		const bytes = new TextEncoder().encode(body)
		const part = new Uint8Array(bytes.length + 2)
		part.set(bytes, 1)
		for (const rawBody of [body, bytes, Buffer.from(body), part.subarray(1, -1), bytes.buffer])
			expect(await verify(rawBody, headers)).toEqual(event)
		expect(await rejectionCode(verify(part, headers))).toBe('no_match')
	})

	test('that changes after the call does not change the event', async () => {
		const { body, headers } = await signed()
		const bytes = new TextEncoder().encode(body)
		const found = verify(bytes.buffer, headers)
		bytes.fill(0x20)
		expect(await found).toEqual(event)
	})

	test.each([
		['an object', event, 'parsed already'],
		['an array', [], 'parsed already'],
		['undefined', undefined, 'undefined'],
	])('that is %s is a mistake of the receiver, and is called so', async (_, rawBody, found) => {
		const { headers } = await signed()
		const error = await failure(verify(rawBody as unknown as string, headers))
		expect(error.constructor).toBe(RemitError)
		expect(error.message).toContain(`a string or bytes, and is ${found}: in Express, give this route express.raw(`)
	})

	test.each([
		['empty', ''],
		['not JSON', 'type=invoice.paid'],
		['null', 'null'],
		['an array', '[{"type":"invoice.paid"}]'],
		['an object whose type is no text', '{"type":1}'],
	])('that is %s is no event, signed or not', async (_, text) => {
		const { body, headers } = await signed(text)
		expect(await rejectionCode(verify(body, headers))).toBe('invalid_payload')
	})

	test('that is not UTF-8 is no event, signed or not', async () => {
		const body = Buffer.from('{"type":"\xff"}', 'latin1')
		const mac = await hmac(secret, Buffer.concat([Buffer.from(`evt_1.${published.timestamp}.`), body]))
		const headers = { ...(await signed()).headers, 'webhook-signature': `v1,${mac}` }
		expect(await rejectionCode(verify(body, headers))).toBe('invalid_payload')
	})
})

describe('a change', () => {
	/** Accepts any time, so that only the signature can fail. */
	const anyTime = { now, tolerance: Number.POSITIVE_INFINITY }
	const flipped = (text: string, index: number, to: string) => text.slice(0, index) + to + text.slice(index + 1)

	test('of any bit, or the loss of any byte, of the body is noticed', async () => {
		const { body, headers } = await signed()
		const bytes = new TextEncoder().encode(body)
		for (let index = 0; index < bytes.length; index++) {
			const changed = bytes.map((byte, at) => (at === index ? byte ^ (1 << (index % 8)) : byte))
			const cut = bytes.filter((_, at) => at !== index)
			expect(await rejectionCode(verifyWebhook(changed, headers, secret, anyTime))).toBe('no_match')
			expect(await rejectionCode(verifyWebhook(cut, headers, secret, anyTime))).toBe('no_match')
		}
	})

	test.each([
		['webhook-id', 'X', 'x'],
		['webhook-timestamp', '0', '1'],
		// Only the first four bits of the last letter before "=" count: A and B decode alike.
		['webhook-signature', 'A', 'B'],
		['webhook-signature', 'E', 'F'],
	])('of any character of %s is noticed', async (name, to, orTo) => {
		const { body, headers } = await signed()
		const value = headers[name] ?? ''
		expect(value).not.toBe('')
		for (let index = 0; index < value.length; index++) {
			for (const other of [to, orTo].filter((letter) => letter !== value[index])) {
				const changed = { ...headers, [name]: flipped(value, index, other) }
				expect(await rejectionCode(verifyWebhook(body, changed, secret, anyTime))).toBe('no_match')
			}
		}
	})

	test('of the boundaries between id, time and body is noticed', async () => {
		const { headers } = await signed('{"type":"a"}')
		const shifted = { ...headers, 'webhook-id': 'evt', 'webhook-timestamp': `${published.timestamp}` }
		expect(await rejectionCode(verify('_test.{"type":"a"}', shifted))).toBe('no_match')
	})

	test('that makes a signature shorter or longer is noticed', async () => {
		const { body, headers } = await signed()
		const signature = headers['webhook-signature'] ?? ''
		const shorter = Array.from(signature, (_, length) => signature.slice(0, length)).slice(1)
		expect(shorter).toHaveLength(46)
		for (const changed of [...shorter, `${signature}=`, `${signature}A`, `${signature}${signature}`])
			expect(await rejectionCode(verify(body, { ...headers, 'webhook-signature': changed }))).toBe('no_match')
	})
})

describe('the time', () => {
	test.each([
		[-300, undefined, undefined],
		[300, undefined, undefined],
		[300.999, undefined, undefined], // whole seconds count, as in other implementations
		[-301, undefined, 'too_new'],
		[301, undefined, 'too_old'],
		[60, 60, undefined],
		[61, 60, 'too_old'],
		[-61, 60, 'too_new'],
		[1, 0, 'too_old'],
		[10 ** 9, Number.POSITIVE_INFINITY, undefined],
		[0, Number.NaN, 'too_old'],
	])('of an attempt %d seconds ago with the tolerance %s: %s', async (age, tolerance, code) => {
		const { body, headers } = await signed()
		const found = verifyWebhook(body, headers, secret, { tolerance, now: now + age * 1000 })
		if (code) expect(await rejectionCode(found)).toBe(code)
		else expect(await found).toEqual(event)
	})

	test('is that of the clock unless told otherwise', async () => {
		const { body, headers } = await signed()
		expect(await rejectionCode(verifyWebhook(body, headers, secret))).toBe('too_old')
	})

	test.each(['soon', '-1614265330', '1614265330.5', '1.6e9', '0x60', '1614265330, 1614265330', ' 1614265330'])(
		'is not %j',
		async (timestamp) => {
			const { body, headers } = await signed()
			expect(await rejectionCode(verify(body, { ...headers, 'webhook-timestamp': timestamp }))).toBe('invalid_timestamp')
		},
	)
})

describe('the headers', () => {
	test('are Headers or a record, in any case, each alone in an array or not', async () => {
		const { body, headers } = await signed()
		const entries = Object.entries(headers)
		const upper = Object.fromEntries(entries.map(([name, value]) => [name.toUpperCase(), value]))
		const arrays = Object.fromEntries(entries.map(([name, value]) => [name, [value]]))
		for (const given of [headers, new Headers(headers), upper, arrays, { ...headers, cookie: undefined, ':path': '/' }])
			expect(await verify(body, given)).toEqual(event)
	})

	test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('must have %s', async (name) => {
		const { body, headers } = await signed()
		const { [name]: _, ...rest } = headers
		for (const given of [rest, new Headers(rest), { ...headers, [name]: undefined }, { ...headers, [name]: '' }]) {
			const error = await failure(verify(body, given))
			expect(error).toMatchObject({ code: 'missing_header', message: `The request has no header ${name}` })
		}
		expect(await rejectionCode(verify(body, { ...headers, [name]: [] }))).toBe('missing_header')
	})

	test('must not have two ids or two times', async () => {
		const { body, headers } = await signed()
		const twice = (name: string) => ({ ...headers, [name]: [headers[name] ?? '', headers[name] ?? ''] })
		expect(await rejectionCode(verify(body, twice('webhook-id')))).toBe('no_match')
		expect(await rejectionCode(verify(body, twice('webhook-timestamp')))).toBe('invalid_timestamp')
		expect(await rejectionCode(verify(body, { ...headers, 'Webhook-Id': 'evt_2' }))).toBe('no_match')
	})
})

describe('several signatures', () => {
	const noise = [`v1,${btoa('x'.repeat(32))}`, 'v1a,hnO3f9T8Ytu9HwrXslvumlUp==', 'v2', 'v1,', 'v1,no base64', ',']

	test.each([
		['one string', (list: string[]) => list.join(' ')],
		['an array', (list: string[]) => list],
		['one string with commas, as Headers joins them', (list: string[]) => list.join(', ')],
	])('in %s need one that matches, at any place', async (_, write) => {
		const { body, headers } = await signed()
		const good = headers['webhook-signature'] ?? ''
		for (let index = 0; index <= noise.length; index++) {
			const list = noise.toSpliced(index, 0, good)
			expect(await verify(body, { ...headers, 'webhook-signature': write(list) })).toEqual(event)
		}
		expect(await rejectionCode(verify(body, { ...headers, 'webhook-signature': write(noise) }))).toBe('no_match')
	})

	test('of another version are not taken for one of this', async () => {
		const { body, headers } = await signed()
		for (const version of ['v1a', 'v10', 'v2', 'V1', 'xv1', '']) {
			const signature = (headers['webhook-signature'] ?? '').replace('v1', version)
			expect(await rejectionCode(verify(body, { ...headers, 'webhook-signature': signature }))).toBe('no_match')
		}
	})

	test('are tried up to the tenth, so that a stranger cannot make each request cost hundreds', async () => {
		const { body, headers } = await signed()
		const after = (count: number) => `${'v1,AAAA'.padEnd(46, 'A')}= `.repeat(count) + headers['webhook-signature']
		expect(await verify(body, { ...headers, 'webhook-signature': after(9) })).toEqual(event)
		expect(await rejectionCode(verify(body, { ...headers, 'webhook-signature': after(10) }))).toBe('no_match')
	})
})

describe('the secret', () => {
	test('may be any one of a list', async () => {
		const { body, headers } = await signed()
		expect(await verify(body, headers, [otherSecret, secret])).toEqual(event)
		expect(await verify(body, headers, [secret, otherSecret])).toEqual(event)
		expect(await rejectionCode(verify(body, headers, [otherSecret]))).toBe('no_match')
	})

	test('in the form of an empty list is a mistake of the receiver', async () => {
		const { body, headers } = await signed()
		const error = await failure(verify(body, headers, []))
		expect(error.constructor).toBe(RemitError)
		expect(error.message).toMatch(/^secret must be/)
	})

	test('works without its prefix, and with a line break at its end', async () => {
		const { body, headers } = await signed()
		expect(await verify(body, headers, secret.replace('whsec_', ''))).toEqual(event)
		expect(await verify(body, headers, `${secret}\n`)).toEqual(event)
	})

	test.each([
		['missing', undefined],
		['empty', ''],
		['the prefix alone', 'whsec_'],
		['made of a missing setting', 'whsec_null'],
		['the hint in place of the secret', 'LaSw'],
		['an API key', 'rmt_0123456789abcdefSECRET'],
		['no base64', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-_'],
		['shorter than 24 bytes', `whsec_${btoa('x'.repeat(23))}`],
	])('that is %s is a mistake of the receiver, and is not repeated', async (_, malformed) => {
		const { body, headers } = await signed()
		const given = malformed as string
		for (const call of [verify(body, headers, [secret, given]), signTestWebhook(event, given)]) {
			const error = await failure(call)
			expect(error.constructor).toBe(RemitError)
			expect(error.message).toMatch(/^secret must be that of the webhook endpoint/)
			expect(error.cause).toBeUndefined()
			if (given && given !== 'whsec_') expect(`${error.message}${error.stack}`).not.toContain(given)
		}
	})
})

/** The base64 of any 32 bytes, as HMAC-SHA256 gives them. */
async function hmac(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
	const raw = Buffer.from(key.replace('whsec_', ''), 'base64')
	const algorithm = { name: 'HMAC', hash: 'SHA-256' }
	const imported = await crypto.subtle.importKey('raw', raw, algorithm, false, ['sign'])
	return Buffer.from(await crypto.subtle.sign('HMAC', imported, bytes)).toString('base64')
}
