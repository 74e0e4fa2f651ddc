import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { describe, expect, it } from 'vitest'
import { hintOf, newSecret, signedHeaders, signingKey } from './signature.ts'

// The example in the tests of Standard Webhooks' own libraries.
const published = {
	secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
	id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
	timestamp: 1_614_265_330,
	body: '{"test": 2432232314}',
	signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}

describe('signedHeaders', () => {
	it('signs the published example as published', () => {
		const { secret, id, timestamp, body, signature } = published
		expect(signedHeaders([signingKey(secret)], id, timestamp * 1000 + 999, body)).toEqual({
			'webhook-id': id,
			'webhook-timestamp': String(timestamp),
			'webhook-signature': signature,
		})
	})

	it('signs with every key, in their order', () => {
		const keys = [newSecret(), newSecret()].map(signingKey)
		const headers = signedHeaders(keys, 'evt_1', 5_000, '{}')
		const expected = keys.map((key) => `v1,${createHmac('sha256', key).update('evt_1.5.{}').digest('base64')}`)
		expect(headers['webhook-signature']).toBe(expected.join(' '))
	})

	it('signs any text so that two libraries accept it, and none accepts another', () => {
		const secret = newSecret()
		fc.assert(
			fc.property(fc.string({ unit: 'binary', minLength: 1 }), (body) => {
				const headers = signedHeaders([signingKey(secret)], 'evt_1', Date.now(), JSON.stringify(body))
				for (const library of [new StandardWebhook(secret), new Svix(secret)]) {
					expect(() => library.verify(JSON.stringify(body), headers)).not.toThrow()
					expect(() => library.verify(JSON.stringify(`${body}!`), headers)).toThrow()
				}
			}),
			{ numRuns: 20 },
		)
	})
})

describe('a new secret', () => {
	it('is 32 random bytes, and told by its end', () => {
		const [secret, other] = [newSecret(), newSecret()]
		expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
		expect(signingKey(secret).symmetricKeySize).toBe(32)
		expect(other).not.toBe(secret)
		expect(secret.endsWith(hintOf(secret))).toBe(true)
		expect(hintOf(secret)).toHaveLength(5)
	})
})
